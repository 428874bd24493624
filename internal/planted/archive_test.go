package planted

import (
	"os"
	"testing"

	"github.com/agentcompact/compact/internal/samples"
)

// archiveFaults are mistakes that an archive could make, each with the package
// and the tests that see it.
var archiveFaults = []struct {
	fault
	pkg, tests string
}{
	{fault{"a file is written in place", "storage/fs/create.go", "	t, err := a.newTemp()\n	if err != nil {\n		return err\n	}\n", `	if err := a.ensureFolder(name); err != nil {
		return err
	}
	f, err := a.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
	if err != nil {
		return err
	}
	if _, err := b.WriteTo(&ctxWriter{ctx, f}); err != nil {
		return err
	}
	if true {
		return errors.Join(a.sys.sync(f), f.Close(), a.syncFolders(name))
	}
	t := &temp{a, f, name}
`, nil}, "./storage/fs", "TestCreate"},
	{fault{"a file is not synced", "storage/fs/create.go", `if err := a.sys.sync(t.f); err != nil {`, `if err := error(nil); err != nil {`, nil}, "./storage/fs", "TestCreate"},
	{fault{"a folder is not synced", "storage/fs/create.go", `			err = a.syncFolders(k.String())`, `			err = nil`, nil}, "./storage/fs", "TestCreate"},
	{fault{"a log is not synced", "storage/fs/append.go", `if err := sync(f); err != nil {`, `if err := error(nil); err != nil {`, nil}, "./storage/fs", "TestAppend"},
	{fault{"the ledger is committed before the transcript is stored", "compact/commit.go", "	case <-r.done:\n	case <-ctx.Done():", "	default:\n	case <-ctx.Done():", nil},
		"./compact", "TestNothingIsCommittedBeforeTheTranscriptIsDurable"},
	{fault{"the audit log does not wait for a transcript that is stored with its step", "compact/store_with.go", "	case err := <-r.transcriptStored:\n		if err =", "	default:\n		err := error(nil)\n		if err =", nil}, "./compact", "TestArchiveFailure|TestTranscriptIs"},
	{fault{"the ledger is created before the drafts of its step are stored", "storage/record/commit.go", "	if err := s.storeDrafts(ctx, step, p); err != nil {\n		return err\n	}\n", "	go s.storeDrafts(ctx, step, p)\n", nil}, "./storage/record", "TestNoLedgerWithoutItsFiles"},
	{fault{"a line of the manifest is dropped", "storage/record/session.go", `return bodies(records), nil`, `return bodies(records[:len(records)-1]), nil`, nil}, "./storage/record", "TestVerifyAccepts|TestTranscript|TestSession"},
	{fault{"swapped files go unnoticed", "storage/record/verify_files.go", `case readable && !slices.Contains(want, have):`, `case readable && false:`, nil}, "./storage/record", "TestVerifyReportsEachTampering"},
	{fault{"a cut tail goes unnoticed", "storage/record/verify.go", `	if at < 0 {`, `	if at < -1 {`, nil}, "./storage/record", "TestVerifyDetectsACutTailOnlyWithAHead"},
	{fault{"ids that hold secrets become one", "compact/name.go", `	if name.String() == id {`, `	if true {`, nil}, "./compact", "TestIDsWithSecretsStayDistinct"},
	{fault{"fingerprints leave memory unsealed", "compact/session.go", `return message.Fingerprint(s.keys.Current().Seal(fp))`, `return fp`, nil}, "./compact", "TestRedactedNumberCanNotBeGuessed"},
	{fault{"a lost key is not reported", "compact/sealed.go", `		s.locked(step.Key)`, ``, nil}, "./compact", "TestLostKeyBeginsANewEpochAndReportsIt"},
	{fault{"events are written after the ledger", "compact/commit.go", `return true, c.s.writeEvents(ctx, append(lines, c.takeEvents()...)...)`, `return len(append(lines, c.takeEvents()...)) > 0, nil`, nil},
		"./compact", "TestNoCommittedStepLacksItsEvents"},
}

func TestEveryFaultOfTheArchiveIsCaught(t *testing.T) {
	if testing.Short() {
		t.Skip("each fault is a build of its own; run it without -short")
	}
	found := 0
	for i, f := range archiveFaults {
		if os.Getenv("COMPACT_SOAK") != "1" && i%samples.Every(16) != 0 {
			continue // the full set is make soak
		}
		t.Run(f.name, func(t *testing.T) {
			if caught(t, f.name, f.pkg, f.tests, f.fault) {
				found++
			}
		})
	}
	t.Logf("%d faults of %d planted and caught", found, len(archiveFaults))
}
