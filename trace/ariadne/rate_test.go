//go:build !race

package ariadne_test

// perSecond is the rate of the load tests, in events.
const perSecond = 10_000
