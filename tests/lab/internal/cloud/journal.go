// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package cloud

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

// Op is the operation that the engine asked for.
type Op string

// The operations of the cloud.
const (
	Create Op = "create"
	Read   Op = "read"
	Update Op = "update"
	Delete Op = "delete"
)

// Phase is how far an operation has come.
type Phase string

const (
	// Begin is recorded before the operation's delay and before anything is changed.
	Begin Phase = "begin"
	// Done is recorded right after the change was made in the cloud. With an Error, the
	// change was made all the same, and the engine got the error
	// (failures.partialCreate).
	Done Phase = "done"
	// Failed is recorded when the operation ended with an error and changed nothing.
	Failed Phase = "failed"
	// Cancelled is recorded when the engine ended a hanging operation, which had changed
	// nothing.
	Cancelled Phase = "cancelled"
)

// Entry is one line of the journal. An operation has a Begin and then one other entry
// with the same ID and process, or none if its process was killed.
type Entry struct {
	Time  time.Time `json:"time"`
	PID   int       `json:"pid"`
	Op    Op        `json:"op"`
	Phase Phase     `json:"phase"`
	ID    string    `json:"id"`
	// Name of the thing, empty if the read thing is not known to Pulumi yet (an import).
	Name  string `json:"name,omitzero"`
	URN   string `json:"urn,omitzero"`
	Error string `json:"error,omitzero"`
}

// maxError bounds the error text of an entry, in bytes.
const maxError = 1024

// Record appends the entry to the journal with a single write, so that the lines of
// several processes do not mix.
func (c *Cloud) Record(entry Entry) error {
	if err := c.prepare(); err != nil {
		return err
	}
	if len(entry.Error) > maxError {
		entry.Error = entry.Error[:maxError]
	}
	line, err := json.Marshal(entry)
	if err != nil {
		return fmt.Errorf("recording %s of thing %s: %w", entry.Op, entry.ID, err)
	}
	if err := appendLine(c.journal(), line); err != nil {
		return fmt.Errorf("recording %s of thing %s: %w", entry.Op, entry.ID, err)
	}
	return nil
}

// appendLine appends the line with one write(2). isTorn needs the lock (which dies with
// its process): a file that another process writes to grows page by page, so an
// unfinished line would look torn.
func appendLine(path string, line []byte) error {
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_RDWR, 0o640)
	if err != nil {
		return err
	}
	return errors.Join(lockAndWrite(file, append(line, '\n')), file.Close())
}

func lockAndWrite(file *os.File, text []byte) error {
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX); err != nil {
		return fmt.Errorf("locking %s: %w", file.Name(), err)
	}
	torn, err := isTorn(file)
	if err != nil {
		return err
	}
	if torn {
		text = append([]byte{'\n'}, text...)
	}
	_, err = file.Write(text)
	return err
}

// isTorn reports whether the last line is incomplete. On Linux, SIGKILL can interrupt a
// write(2) between two pages, and the fragment must not swallow the next line.
func isTorn(file *os.File) (bool, error) {
	info, err := file.Stat()
	if err != nil || info.Size() == 0 {
		return false, err
	}
	last := make([]byte, 1)
	if _, err := file.ReadAt(last, info.Size()-1); err != nil {
		return false, err
	}
	return last[0] != '\n', nil
}
