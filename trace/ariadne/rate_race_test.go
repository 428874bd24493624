//go:build race

package ariadne_test

// perSecond is the rate of the load tests in events per second. The race detector
// allows a tenth of the usual 10,000.
const perSecond = 1_000
