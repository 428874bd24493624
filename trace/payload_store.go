package trace

import "fmt"

// Archival is the payload of compact.archival: the stored file and its
// location. With an ErrorType it is a failure.
type Archival struct {
	SessionID      string `json:"session_id"`
	Step           int    `json:"step"`           // the compaction's number, from 1
	ArchivedCount  int    `json:"archived_count"` // messages; 0 after a failure
	Bytes          int64  `json:"bytes"`
	StorageAdapter string `json:"storage_adapter"`         // "fs", "s3", "memory"
	FilePath       string `json:"file_path,omitempty"`     // absolute path, if it is a local file
	S3Key          string `json:"s3_key,omitempty"`        // s3://…, if it is an object in a bucket
	ReadWith       string `json:"read_with,omitempty"`     // the command that prints it
	SHA256         string `json:"sha256,omitempty"`        // hash of the file, in hex
	ManifestHead   string `json:"manifest_head,omitempty"` // hash of the manifest's last line; `archive verify --head`
	ErrorType      string `json:"error_type,omitempty"`
	Cause          string `json:"cause,omitempty"` // kind of the failure: "no_space", "permission_denied"

	OutputText string `json:"output_text"` // one line; written if empty
}

func (p Archival) spec() spec {
	return spec{NameArchival, KindArchival, statusOf(p.ErrorType), ""}
}

func (p Archival) complete() any {
	p.OutputText = or(p.OutputText, p.line)
	return p
}

func (p Archival) line() string {
	where := p.FilePath
	if where == "" {
		where = p.S3Key
	}
	if p.ErrorType != "" {
		return fmt.Sprintf("archiving %s failed: %s", count(p.ArchivedCount, "message"), p.ErrorType)
	}
	if where == "" {
		return "archived " + count(p.ArchivedCount, "message")
	}
	return fmt.Sprintf("archived %s to %s", count(p.ArchivedCount, "message"), where)
}
