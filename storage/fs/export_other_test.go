//go:build !unix

package fs

import iofs "io/fs"

func sysID(info iofs.FileInfo) string { return info.Name() }
