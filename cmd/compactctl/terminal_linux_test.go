package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/agentcompact/compact/storage/record"
)

// terminal opens a terminal without input.
func terminal(t *testing.T) *os.File {
	t.Helper()
	control, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skip("no terminals here: ", err)
	}
	t.Cleanup(func() { _ = control.Close() })
	var number, locked int32
	for request, to := range map[uintptr]*int32{syscall.TIOCGPTN: &number, syscall.TIOCSPTLCK: &locked} {
		if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, control.Fd(), request, uintptr(unsafe.Pointer(to))); errno != 0 {
			t.Skip("no terminals here: ", errno)
		}
	}
	tty, err := os.OpenFile(fmt.Sprint("/dev/pts/", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skip("no terminals here: ", err)
	}
	t.Cleanup(func() { _ = tty.Close() })
	return tty
}

// A person who starts the server by hand gets an explanation. An agent gets no
// explanation.
func TestMCPExplainsItselfAtATerminal(t *testing.T) {
	for name, in := range map[string]io.Reader{"a terminal": terminal(t), "an agent": strings.NewReader("")} {
		ctx, stop := context.WithTimeout(t.Context(), 100*time.Millisecond)
		var errOut bytes.Buffer
		code := run(ctx, []string{"mcp"}, in, io.Discard, &errOut)
		stop()
		if said := strings.Contains(errOut.String(), "waiting for an agent"); code != exitOK || said != (name == "a terminal") {
			t.Errorf("%s: %d %q", name, code, errOut.String())
		}
	}
}

// An export to a terminal contains no control characters; elsewhere it has the stored
// bytes.
func TestExportToATerminalIsEscaped(t *testing.T) {
	tty := terminal(t)
	a := &app{out: tty, err: io.Discard}
	if err := a.exportHere(bytes.NewBufferString("x"), record.ExportTarGz); err == nil {
		t.Error("a tar archive was written to a terminal")
	}
	if err := a.exportHere(bytes.NewBufferString("{\"a\":\"\u202e\"}\n"), record.ExportJSONL); err != nil {
		t.Error(err)
	}
	var b bytes.Buffer
	a.out = &b
	if err := a.exportHere(bytes.NewBufferString("\u202e"), record.ExportJSONL); err != nil || b.String() != "\u202e" {
		t.Errorf("%q, %v", b.String(), err)
	}
}
