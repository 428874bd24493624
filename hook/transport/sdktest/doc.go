// Package sdktest tests hook/transport with real SDKs. The test servers enforce the rules
// of each SDK's provider.
package sdktest
