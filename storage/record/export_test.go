package record

import (
	"context"
	"time"
)

// BeginErase writes what version 0.1.0 writes before it removes a session.
func (s *Session) BeginErase(ctx context.Context) error {
	_, err := s.manifest.append(ctx, func(facts) ([]string, error) {
		return bodies([]record{{Op: opErase, At: time.Now()}}), nil
	})
	return err
}
