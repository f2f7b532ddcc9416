package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/straggler-go/straggler/examples/shard/internal/shardqueue"
)

// eventLog is a queue whose events are lines of a file. Each event is on disk before its effect is told. It is safe for
// concurrent use.
type eventLog struct {
	mu   sync.Mutex
	file *os.File
	size int64 // of the lines that are whole
	q    shardqueue.Queue
}

// openLog opens a file of events, or makes it. A last line without an end is ignored: the process that wrote it was
// killed before it answered. Any other line that cannot be read is an error.
func openLog(path string, now time.Time) (*eventLog, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	l := &eventLog{file: file}
	if err := l.load(); err != nil {
		file.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	l.q.HearAll(now)
	return l, nil
}

func (l *eventLog) load() error {
	lines := bufio.NewReaderSize(l.file, 1<<16)
	for number := 1; ; number++ {
		line, err := lines.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if len(line) == 0 {
			return nil
		}
		e, err := shardqueue.Parse(line)
		if errors.Is(err, shardqueue.ErrHalf) {
			return nil // the next event overwrites it
		}
		if err == nil {
			err = l.q.Apply(e)
		}
		if err != nil {
			return fmt.Errorf("line %d %w; move the file away, and the machines begin anew", number, err)
		}
		l.size += int64(len(line))
	}
}

// ask answers the request of a machine.
func (l *eventLog) ask(now time.Time, r shardqueue.Request) (shardqueue.Answer, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.q.Hear(now, r.Machine, r.Session)
	for {
		answer, event := l.q.Decide(now, r)
		if event == nil {
			return answer, nil
		}
		if err := l.append(event); err != nil {
			return shardqueue.Answer{}, err
		}
	}
}

// append stores an event and applies it. An event that is not stored whole is removed.
func (l *eventLog) append(e *shardqueue.Event) error {
	line, err := e.Line()
	if err != nil {
		return err
	}
	if _, err = l.file.WriteAt(line, l.size); err == nil {
		err = l.file.Sync()
	}
	if err != nil {
		return errors.Join(err, l.file.Truncate(l.size))
	}
	l.size += int64(len(line))
	return l.q.Apply(*e)
}

func (l *eventLog) status(now time.Time) (text string, passed bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.q.Status(now), l.q.Passed()
}
