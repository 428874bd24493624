// Package sdktest runs the SDKs that hook/transport supports against servers
// with the rules of their providers.
package sdktest
