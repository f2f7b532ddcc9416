package wordcount

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"go.temporal.io/sdk/activity"
	"golang.org/x/time/rate"

	"github.com/straggler-go/straggler/restart/engine/temporal/fanout"
)

// blockTime is how long it takes to read what is read at once. Between blocks a task looks whether it was cancelled.
const blockTime = 50 * time.Millisecond

// reportEvery is how often a task reports.
const reportEvery = 400 * time.Millisecond

// disk reads files at a rate, and reports how far it is, or, if silent, that it reads.
type disk struct {
	ctx      context.Context
	limit    *rate.Limiter
	block    int
	read     int64
	reported time.Time
	silent   bool
}

func newDisk(ctx context.Context, bytesPerSecond float64, silent bool) *disk {
	ahead := max(1, int(bytesPerSecond)) // a task that is held up finds what was read ahead for it: a second's worth
	d := &disk{
		ctx: ctx, limit: rate.NewLimiter(rate.Limit(bytesPerSecond), ahead),
		block: max(1, int(bytesPerSecond*blockTime.Seconds())),
		// What began together does not report together: the server takes the reports of a workflow one after the other.
		reported: time.Now().Add(rand.N(reportEvery)), silent: silent,
	}
	d.limit.AllowN(time.Now(), ahead) // nothing is at the start
	return d
}

// reader reads from r at the disk's rate. It fails with the cause once the context is cancelled.
func (d *disk) reader(r io.Reader) io.Reader { return slow{d, r} }

type slow struct {
	*disk
	from io.Reader
}

func (s slow) Read(p []byte) (int, error) {
	n, err := s.from.Read(p[:min(len(p), s.block)])
	if waited := s.limit.WaitN(s.ctx, n); waited != nil {
		if cause := context.Cause(s.ctx); cause != nil {
			return 0, cause
		}
		return 0, waited
	}
	s.read += int64(n)
	if now := time.Now(); now.Sub(s.reported) >= reportEvery {
		s.reported = now
		s.report()
	}
	return n, err
}

// report tells the server that the task lives, which also brings it the news that it is cancelled, and how far it is.
func (d *disk) report() {
	if d.silent {
		activity.RecordHeartbeat(d.ctx)
		return
	}
	fanout.Report(d.ctx, float64(d.read))
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
