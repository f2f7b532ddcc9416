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

// blockTime is the time to read one block. Between two blocks, a task checks whether it was cancelled.
const blockTime = 50 * time.Millisecond

// reportEvery is the time between two reports of a task.
const reportEvery = 400 * time.Millisecond

// disk reads files at a limited rate. It sends heartbeats with the progress, or without progress if silent is set.
type disk struct {
	ctx      context.Context
	limit    *rate.Limiter
	block    int
	read     int64
	reported time.Time
	silent   bool
}

func newDisk(ctx context.Context, bytesPerSecond float64, silent bool) *disk {
	ahead := max(1, int(bytesPerSecond)) // a task that was delayed may read the data of one second at once
	d := &disk{
		ctx: ctx, limit: rate.NewLimiter(rate.Limit(bytesPerSecond), ahead),
		block: max(1, int(bytesPerSecond*blockTime.Seconds())),
		// Tasks that begin together report at different times, because the server handles the reports of a workflow
		// in turn.
		reported: time.Now().Add(rand.N(reportEvery)), silent: silent,
	}
	d.limit.AllowN(time.Now(), ahead) // at the start, no data was read ahead
	return d
}

// reader reads from r at the rate of the disk. After the context is cancelled, it returns the cause as its error.
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

// report sends a heartbeat with the progress of the task. The answer of the server tells the task if it is cancelled.
func (d *disk) report() {
	if d.silent {
		activity.RecordHeartbeat(d.ctx)
		return
	}
	fanout.Report(d.ctx, float64(d.read))
}

// publish writes a temporary file and renames it, so that another process never sees a part of the file.
func publish(name string, c io.WriterTo) (size int64, err error) {
	file, err := os.CreateTemp(filepath.Dir(name), ".part-*")
	if err != nil {
		return 0, err
	}
	defer os.Remove(file.Name()) // does nothing after the file was renamed
	size, err = c.WriteTo(file)
	if closed := file.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return 0, fmt.Errorf("%s: %w", name, err)
	}
	return size, os.Rename(file.Name(), name)
}
