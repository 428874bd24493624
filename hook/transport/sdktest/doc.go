// Package sdktest runs the SDKs that hook/transport is for against servers
// with the rules of their providers.
package sdktest
