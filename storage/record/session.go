package record

import (
	"context"
	"errors"
	"io"
	"iter"
	"sync"
	"time"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/internal/segment"
)

// A Session reads and writes the files of one session in an archive, in the
// order and under the names of the layout, and maintains the manifest.
//
// All methods may be called at once, by several goroutines, and there may be
// any number of Sessions for one session, in one process or in several. A write
// is durable when its method returns without an error. A Session need not be
// closed; it holds a few hundred bytes, and the names of the files of
// uncommitted steps.
type Session struct {
	a   storage.Archive
	dir storage.Key

	manifest, events, journal, edits *chain

	heads *Heads      // nil: no heads are written
	who   redact.Text // name of the person for holds, releases and erasures
	index TextIndex   // index of its text; nil = unknown

	mu      sync.Mutex
	pending map[int][]fileHash        // step → files written for it by this Session
	loose   map[storage.Key]looseFile // files that this Session stored after its last line of the manifest
	head    int                       // highest step known to be committed
	marked  map[string]int64          // log → bytes that a mark of this Session covers
	named   bool                      // the name for its hash is stored
	untold  bool                      // the manifest has lines of this Session without a head
	scrubs  int                       // known scrubs of the manifest: the scrubs before the session was opened, and the session's own
	began   int64                     // lines of the manifest when the session was opened
	opened  time.Time
}

// Written describes a stored file.
type Written struct {
	Key      storage.Key
	Bytes    int64
	SHA256   string // lower-case hex
	Location string // path or URL in the form that an operator would write
}

// OpenSession returns the session with this id, which need not exist yet;
// nothing is written before the first file. It reads the manifest. Any id
// except "" is valid.
func OpenSession(ctx context.Context, a storage.Archive, id string) (*Session, error) {
	dir, err := Prefix(id)
	if err != nil {
		return nil, err
	}
	return openDir(ctx, a, dir)
}

// OpenDir is [OpenSession] for the name of a folder from [SessionInfo], because a folder
// does not always determine the id.
func OpenDir(ctx context.Context, a storage.Archive, dir string) (*Session, error) {
	key, err := storage.ParseKey(dir)
	if err != nil {
		return nil, err
	}
	if !IsFolder(dir) {
		return nil, &storage.KeyError{Text: dir, Reason: "it is not the folder of a session"}
	}
	return openDir(ctx, a, key)
}

func openDir(ctx context.Context, a storage.Archive, dir storage.Key) (*Session, error) {
	s := &Session{
		a:        a,
		dir:      dir,
		manifest: newChain(a, child(dir, manifestName), true),
		events:   newChain(a, child(dir, eventsName), false),
		journal:  newChain(a, child(dir, journalName), false),
		edits:    newChain(a, child(dir, editsName), false),
		pending:  map[int][]fileHash{},
		marked:   map[string]int64{},
		opened:   time.Now(), // set before the read, so that a concurrent erase is noticed
	}
	t, err := s.manifest.refresh(ctx)
	s.scrubs, s.began = t.facts.scrubs, t.facts.lines
	if err != nil {
		return nil, err
	}
	return s, nil
}

// Archive returns the archive of the session.
func (s *Session) Archive() storage.Archive { return s.a }

// Key returns the key of the session's folder.
func (s *Session) Key() storage.Key { return s.dir }

// Location returns the path or URL of the session's folder.
func (s *Session) Location() string { return location(s.a, s.dir) }

// location returns the location of k, or k as text if a is not a Locator.
func location(a storage.Archive, k storage.Key) string {
	if l, ok := a.(storage.Locator); ok {
		return l.Location(k)
	}
	return k.String()
}

// ManifestHead returns the hash of the last line of the manifest that this
// Session wrote, or read when it was opened; "" if there is none. If it is
// stored outside of the archive, it proves that the end was not cut off
// ([VerifyOptions]).
func (s *Session) ManifestHead() string {
	t, _ := s.manifest.known()
	if t.seq == 0 {
		return ""
	}
	return t.head
}

// Erasing reports whether an erase of the session had begun, and was not complete, when
// this Session last read the manifest.
func (s *Session) Erasing() bool {
	t, _ := s.manifest.known()
	return t.facts.erasing
}

// Open opens a file of the session, like [storage.Archive.Open].
func (s *Session) Open(ctx context.Context, name string, off, n int64) (io.ReadCloser, error) {
	if reason := segment.Check(name); reason != "" {
		return nil, &storage.KeyError{Text: name, Reason: reason}
	}
	if isLog(name) {
		return openOneLog(ctx, s.a, child(s.dir, name), off, n)
	}
	return storage.OpenFile(ctx, s.a, child(s.dir, name), off, n)
}

// Files yields the session's files, like [storage.Archive.List].
func (s *Session) Files(ctx context.Context) iter.Seq2[storage.Info, error] {
	return s.a.List(ctx, s.dir)
}

// Transcript stores the full history before a step, one message in each line,
// as transcript-pre-compact-NNN.jsonl. If a crash or a lost race left a file of
// that name, the name is transcript-pre-compact-NNN.2.jsonl, and so on.
func (s *Session) Transcript(ctx context.Context, step int, lines []redact.Text) (Written, error) {
	return s.TranscriptOf(ctx, step, contentOf(lines))
}

// TranscriptOf is Transcript for a [Content], which can refer to stored lines of
// the session.
func (s *Session) TranscriptOf(ctx context.Context, step int, c *Content) (Written, error) {
	return s.writeContent(ctx, transcriptKind, step, c)
}

// Originals is Transcript for presets that work on every call: it stores only
// the originals of a step's changes, as originals-NNN.jsonl.
func (s *Session) Originals(ctx context.Context, step int, lines []redact.Text) (Written, error) {
	return s.OriginalsOf(ctx, step, contentOf(lines))
}

// OriginalsOf is Originals for a [Content], which can refer to stored lines of the
// session.
func (s *Session) OriginalsOf(ctx context.Context, step int, c *Content) (Written, error) {
	return s.writeContent(ctx, originalsKind, step, c)
}

// Summary stores the summary of a step, as summary-NNN.json or the next free
// attempt.
func (s *Session) Summary(ctx context.Context, step int, summary redact.Text) (Written, error) {
	if summary.Len() > maxSummaryBytes {
		return Written{}, &storage.Error{Op: "write", Key: child(s.dir, summaryKind.file(step, 1)), Err: errTooLong}
	}
	return s.write(ctx, summaryKind, step, storage.Redacted(summary))
}

// Final stores a transcript that belongs to no step, such as the whole history
// at the end of a session, as transcript-final-NNN.jsonl with the first free
// number. It also records the lengths of the logs in the manifest, like
// [Session.Checkpoint].
func (s *Session) Final(ctx context.Context, lines []redact.Text) (Written, error) {
	return s.FinalOf(ctx, contentOf(lines))
}

// FinalOf is Final for a [Content], which can refer to stored lines of the
// session.
func (s *Session) FinalOf(ctx context.Context, c *Content) (Written, error) {
	blob, err := c.blob()
	if err != nil {
		return Written{}, &storage.Error{Op: "final", Key: s.dir, Err: err}
	}
	for n := 1; ; n++ {
		w, rec, err := s.create(ctx, finalKind.file(n, 1), blob)
		if errors.Is(err, storage.ErrExists) {
			continue
		}
		if err != nil {
			return Written{}, err
		}
		if err := s.record(ctx, append(s.marks(), rec.done())...); err != nil {
			return Written{}, err
		}
		s.told(ctx, head{Op: headFinal})
		return w, nil
	}
}

func (s *Session) writeContent(ctx context.Context, k kind, step int, c *Content) (Written, error) {
	blob, err := c.blob()
	if err != nil {
		return Written{}, &storage.Error{Op: "write", Key: child(s.dir, k.file(step, 1)), Err: err}
	}
	return s.write(ctx, k, step, blob)
}

// write stores a file of a step under the first free name, and remembers it for
// the commit.
func (s *Session) write(ctx context.Context, k kind, step int, blob storage.Blob) (Written, error) {
	if step < 1 {
		return Written{}, &storage.Error{Op: "write", Key: s.dir, Err: ErrStep}
	}
	for attempt := 1; ; attempt++ {
		w, rec, err := s.create(ctx, k.file(step, attempt), blob)
		if errors.Is(err, storage.ErrExists) {
			continue
		}
		if err == nil {
			s.mu.Lock()
			s.pending[step] = append(s.pending[step], rec.fileHash)
			s.mu.Unlock()
		}
		return w, err
	}
}

// create announces a file and creates it. If the name is taken, it returns ErrExists.
func (s *Session) create(ctx context.Context, name string, blob storage.Blob) (Written, record, error) {
	key := child(s.dir, name)
	rec := put(fileHash{name, blob.Size(), blob.SHA256()})
	if err := s.claim(ctx, key, rec); err != nil {
		return Written{}, record{}, err
	}
	if err := s.createFile(ctx, key, blob); err != nil {
		if errors.Is(err, storage.ErrNotExist) {
			err = s.settleManifest(ctx, err)
		}
		return Written{}, record{}, err
	}
	return s.written(key, rec), rec, nil
}

// createFile creates an announced file.
func (s *Session) createFile(ctx context.Context, k storage.Key, b storage.Blob) error {
	s.making(k, b)
	err := s.a.Create(ctx, k, b)
	s.made(k, b, err)
	return err
}

// claim announces a file with a new name. It need not check whether the file
// exists, because files are announced before they are created. For an announced
// name it returns ErrExists, whether or not the file was created.
func (s *Session) claim(ctx context.Context, key storage.Key, rec record) error {
	err := s.say(ctx, func(f facts) ([]string, error) {
		if f.names.has(rec.Name) {
			return nil, storage.ErrExists
		}
		return bodies([]record{rec}), nil
	})
	if errors.Is(err, storage.ErrExists) {
		return &storage.Error{Op: "create", Key: key, Err: storage.ErrExists}
	}
	if err == nil {
		s.settle([]record{rec})
	}
	return err
}

func (s *Session) written(key storage.Key, rec record) Written {
	return Written{Key: key, Bytes: rec.Bytes, SHA256: rec.SHA256, Location: location(s.a, key)}
}

func (s *Session) exists(ctx context.Context, key storage.Key) (bool, error) {
	r, err := storage.OpenFile(ctx, s.a, key, 0, 1)
	if errors.Is(err, storage.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, r.Close()
}

// record appends to the manifest, unless the session is being erased or was
// scrubbed since it was opened.
func (s *Session) record(ctx context.Context, records ...record) error {
	err := s.say(ctx, func(facts) ([]string, error) { return bodies(records), nil })
	if err == nil {
		s.settle(records)
	}
	return err
}

func bodies(records []record) []string {
	out := make([]string, len(records))
	for i, r := range records {
		out[i] = r.body()
	}
	return out
}
