//go:build !race

package ariadne_test

// perSecond is the rate of the load tests in events per second.
const perSecond = 10_000
