package seal

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
)

// Folder returns the folder of keys: $XDG_CONFIG_HOME/compact/keys, or
// compact/keys in the system's folder for configuration.
func Folder() (string, error) {
	base := os.Getenv("XDG_CONFIG_HOME")
	if base == "" {
		var err error
		if base, err = os.UserConfigDir(); err != nil {
			return "", fmt.Errorf("seal: %w", err)
		}
	}
	return filepath.Join(base, "compact", "keys"), nil
}

// InMemory stands for a folder in memory, whose keys end with the process.
const InMemory = ":memory:"

var inMemory sync.Map // Key by id

// ReadKey reads the key with this id from a folder. It returns an error if the key is
// missing, or if the id of the key differs from the file name.
func ReadKey(folder, id string) (Key, error) {
	if folder == "" || !isID(id) {
		return Key{}, fs.ErrNotExist
	}
	if folder == InMemory {
		if k, ok := inMemory.Load(id); ok {
			return k.(Key), nil //nolint:forcetypeassert // WriteKey puts nothing else there
		}
		return Key{}, fs.ErrNotExist
	}
	k, err := readFile(filepath.Join(folder, id))
	if err == nil && k.ID() != id {
		err = errKey
	}
	return k, err
}

// WriteKey durably stores a key in a folder. It creates the folder if it is missing.
// Only the user can read the file (0600).
func WriteKey(folder string, k Key) error {
	if folder == InMemory {
		inMemory.Store(k.ID(), k)
		return nil
	}
	if err := makeFolder(folder); err != nil {
		return err
	}
	name := filepath.Join(folder, k.ID())
	temp := name + "." + rand.Text()
	if err := writeFile(temp, k.Hex()+"\n"); err != nil {
		return errors.Join(err, os.Remove(temp))
	}
	if err := os.Rename(temp, name); err != nil {
		return errors.Join(err, os.Remove(temp))
	}
	return syncFolder(folder)
}

// makeFolder creates a folder and its parents, and makes the entry of each new one
// durable. If the key were lost, no ledger of the archive would match its history any
// more.
func makeFolder(folder string) error {
	err := os.Mkdir(folder, 0o700)
	if errors.Is(err, fs.ErrNotExist) {
		if err := makeFolder(filepath.Dir(folder)); err != nil {
			return err
		}
		err = os.Mkdir(folder, 0o700)
	}
	if err == nil {
		return syncFolder(filepath.Dir(folder))
	}
	if info, serr := os.Stat(folder); serr == nil && info.IsDir() {
		return nil
	}
	return err
}

func writeFile(name, text string) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// machineName is the file of this machine's key, for archives without a key of
// their own.
const machineName = "machine"

// MachineKey returns the key of this machine, for archives that must not delay a
// call, such as buckets. If there is none, it returns k: with make it stores k as
// the key of the machine, without make it returns false. Concurrent processes that
// store one get the same key. Errors of the folder are [ErrFolder].
func MachineKey(folder string, k Key, make bool) (Key, bool, error) {
	name := filepath.Join(folder, machineName)
	if have, err := readFile(name); err == nil {
		return have, true, nil
	}
	if !make {
		return k, false, nil
	}
	if err := WriteKey(folder, k); err != nil {
		return k, false, fmt.Errorf("%w: %w", ErrFolder, err)
	}
	err := os.Link(filepath.Join(folder, k.ID()), name)
	if errors.Is(err, fs.ErrExist) {
		_ = RemoveKey(folder, k) // another process was first
		k, err = readFile(name)
	}
	if err == nil {
		err = syncFolder(folder)
	}
	if err != nil {
		return k, false, fmt.Errorf("%w: %w", ErrFolder, err)
	}
	return k, true, nil
}

func readFile(name string) (Key, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return Key{}, err
	}
	return ParseKey(string(text))
}

// RemoveKey removes a key that has sealed nothing.
func RemoveKey(folder string, k Key) error {
	if folder == InMemory {
		inMemory.Delete(k.ID())
		return nil
	}
	return os.Remove(filepath.Join(folder, k.ID()))
}

// isID reports whether id has the form of [Key.ID], and so is not a path.
func isID(id string) bool {
	if len(id) != 16 {
		return false
	}
	for i := range len(id) {
		if c := id[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// syncFolder makes the entries of a folder durable, if the system supports
// that. Tests replace it.
var syncFolder = func(folder string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	f, err := os.Open(folder)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
