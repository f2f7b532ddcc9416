package wordcount

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/time/rate"

	"github.com/straggler-go/straggler/examples/temporal/fanout"
)

// block is how much is read at once. Between blocks a task looks whether it was cancelled.
const block = 8 << 10

// reportEvery is how often a task reports.
const reportEvery = 400 * time.Millisecond

// disk reads files at a rate, and reports how far it is.
type disk struct {
	ctx      context.Context
	limit    *rate.Limiter
	read     int64
	reported time.Time
}

func newDisk(ctx context.Context, bytesPerSecond float64) *disk {
	d := &disk{ctx: ctx, limit: rate.NewLimiter(rate.Limit(bytesPerSecond), block)}
	d.limit.AllowN(time.Now(), block) // the first block takes its time, too
	return d
}

// reader reads from r at the disk's rate. It fails with the cause once the context is cancelled.
func (d *disk) reader(r io.Reader) io.Reader { return slow{d, r} }

type slow struct {
	*disk
	from io.Reader
}

func (s slow) Read(p []byte) (int, error) {
	n, err := s.from.Read(p[:min(len(p), block)])
	if waited := s.limit.WaitN(s.ctx, n); waited != nil {
		if cause := context.Cause(s.ctx); cause != nil {
			return 0, cause
		}
		return 0, waited
	}
	s.read += int64(n)
	if now := time.Now(); now.Sub(s.reported) >= reportEvery {
		s.reported = now
		fanout.Report(s.ctx, float64(s.read))
	}
	return n, err
}

// publish writes a file under its name in one step, so that whoever sees it sees all of it.
func publish(name string, c io.WriterTo) (size int64, err error) {
	file, err := os.CreateTemp(filepath.Dir(name), ".part-*")
	if err != nil {
		return 0, err
	}
	defer os.Remove(file.Name()) // nothing is left if it was renamed
	size, err = c.WriteTo(file)
	if closed := file.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return 0, fmt.Errorf("%s: %w", name, err)
	}
	return size, os.Rename(file.Name(), name)
}
