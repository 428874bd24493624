//go:build race

package ariadne_test

// perSecond is the rate of the load tests, in events: what the race detector
// leaves of 10,000.
const perSecond = 1_000
