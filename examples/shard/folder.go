package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/straggler-go/straggler/examples/shard/internal/shardqueue"
)

// folder is a queue in a directory that all machines share. Each event is a file: 00000000, 00000001 and so on. A
// machine writes its event to a file of its own, and then links it to the next number. The link fails if another
// machine was first; then this machine reads the event of the other one, and decides again. So there is no lock, and no
// file is seen half written. The machines take the time from the file system, so their clocks may differ.
type folder struct {
	mu   sync.Mutex
	dir  string
	next int // the number of the next event
	q    shardqueue.Queue
}

// conflictPause is the pause after another machine was first: a network file system may show the other event a moment
// later.
const conflictPause = 5 * time.Millisecond

// alive is the directory with a file for each session, which the machine writes at each beat.
const alive = "alive"

// openFolder opens the queue in a directory. It makes the directory if there is none.
func openFolder(dir string) (*folder, error) {
	return &folder{dir: dir}, os.MkdirAll(filepath.Join(dir, alive), 0o777)
}

func (f *folder) ask(_ context.Context, r shardqueue.Request) (shardqueue.Answer, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := time.Now()
	if shardqueue.CheckName(r.Machine) == nil && shardqueue.CheckName(r.Session) == nil {
		var err error
		if now, err = touch(f.beat(r.Machine, r.Session)); err != nil {
			return shardqueue.Answer{}, err
		}
	}
	for {
		if err := f.read(); err != nil {
			return shardqueue.Answer{}, err
		}
		f.hear()
		answer, event := f.q.Decide(now, r)
		if event == nil {
			return answer, nil
		}
		if err := f.append(event); err != nil {
			return shardqueue.Answer{}, err
		}
	}
}

func (f *folder) beat(machine, session string) string {
	return filepath.Join(f.dir, alive, machine+"."+session)
}

// touch writes a file, and returns the time that the file system gives to the file.
func touch(name string) (time.Time, error) {
	if err := os.WriteFile(name, []byte("alive\n"), 0o666); err != nil {
		return time.Time{}, err
	}
	info, err := os.Stat(name)
	if err != nil {
		return time.Time{}, err
	}
	return info.ModTime(), nil
}

// hear reads when each machine was heard.
func (f *folder) hear() {
	for _, s := range f.q.Sessions() {
		if info, err := os.Stat(f.beat(s[0], s[1])); err == nil {
			f.q.Hear(info.ModTime(), s[0], s[1])
		}
	}
}

func (f *folder) file(number int) string { return filepath.Join(f.dir, fmt.Sprintf("%08d", number)) }

// read applies the events that have come since.
func (f *folder) read() error {
	for {
		line, err := os.ReadFile(f.file(f.next))
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		} else if err != nil {
			return err
		}
		e, err := shardqueue.Parse(line)
		if err == nil {
			err = f.q.Apply(e)
		}
		if err != nil {
			return fmt.Errorf("%s %w; choose another directory, and the machines begin anew", f.file(f.next), err)
		}
		f.next++
	}
}

// append makes an event the next one, unless another machine is first.
func (f *folder) append(e *shardqueue.Event) error {
	line, err := e.Line()
	if err != nil {
		return err
	}
	mine, err := os.CreateTemp(f.dir, ".event-*")
	if err != nil {
		return err
	}
	defer os.Remove(mine.Name())
	_, err = mine.Write(line)
	if err := errors.Join(err, mine.Chmod(0o644), mine.Sync(), mine.Close()); err != nil {
		return err
	}
	switch err := os.Link(mine.Name(), f.file(f.next)); {
	case errors.Is(err, fs.ErrExist):
		time.Sleep(conflictPause)
		return nil
	case err != nil:
		return fmt.Errorf("the directory of a queue must support hard links: %w", err)
	}
	return syncDir(f.dir)
}

func (f *folder) status(context.Context) (string, bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.read(); err != nil {
		return "", false, err
	}
	f.hear()
	return f.q.Status(time.Now()), f.q.Passed(), nil
}
