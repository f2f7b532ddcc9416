package delay

import (
	"log/slog"
	"math"
	"time"

	"github.com/straggler-go/straggler/internal/enum"
	"github.com/straggler-go/straggler/internal/num"
	"github.com/straggler-go/straggler/internal/wire"
)

// File is a file that tasks read, or a block of one, as the host sees it now.
type File struct {
	// Waiting is how many tasks, of all jobs, are still to be launched and would run best where the file is.
	Waiting int
	// Replicas is how many copies of the file there are, 1 or more, and Slots how many slots the nodes with a copy have
	// in all.
	Replicas, Slots int
	// TaskTime is how long such a task holds a slot. It must be positive.
	TaskTime time.Duration
}

// Heat says whether a file is hot.
type Heat uint8

const (
	// Unknown: a fact is missing or makes no sense. It is the zero value.
	Unknown Heat = iota
	// Served: the slots with the file serve all that wait, in time.
	Served
	// Hot: they do not, and the file is to have more copies.
	Hot
	// Capped: it is hot, and has as many copies as it may have.
	Capped
)

var heatNames = [...]string{"unknown", "served", "hot", "capped"}

// String returns the heat's name.
func (h Heat) String() string { return enum.Name(heatNames[:], h) }

// MarshalText returns the heat's name.
func (h Heat) MarshalText() ([]byte, error) { return enum.Text(heatNames[:], h) }

// UnmarshalText sets the heat by its name.
func (h *Heat) UnmarshalText(text []byte) error { return enum.Parse(heatNames[:], text, h) }

// Experimental: no host of this repository calls it yet.
//
// HotSpot says how many copies a file should have. It is a plain value: it can be compared with ==, prints as one line,
// logs as structured fields and marshals to JSON by names.
type HotSpot struct {
	Heat Heat
	// Replicas is how many copies the file should have: as many as it has unless it is Hot.
	Replicas int
	// Drains is how long the slots with the file take to serve all that wait, and Limit how long they may.
	Drains, Limit time.Duration
}

// Experimental: no host of this repository calls it yet.
//
// DecideReplicas finds hot spots. A node that many jobs want becomes a bottleneck while others idle, and if that is due
// to one file that many read, "another solution is to increase its replication level" [FAIR §4.3.2]. With s slots that
// have the file, w tasks that wait for one are served in w * Task / s; if that is longer than limit, some would run
// elsewhere or wait too long, and the file is to have the least number of copies with which it is not, up to most. Each
// copy is taken to bring as many slots as those there are have on average. For limit, pass the time after which jobs
// launch anywhere.
//
// The paper has no rule for finding them. Ask for files that tasks wait for; a file that is Served may keep the copies
// that it has. O(1), no allocation.
func DecideReplicas(f File, limit time.Duration, most int) HotSpot {
	if f.Waiting < 0 || f.Replicas < 1 || f.Slots < 1 || f.TaskTime <= 0 || limit <= 0 {
		return HotSpot{Replicas: max(f.Replicas, 0)}
	}
	// In seconds of all slots: what waits, and what one copy serves within the limit.
	work := float64(f.Waiting) * f.TaskTime.Seconds()
	h := HotSpot{Heat: Served, Replicas: f.Replicas, Limit: limit}
	h.Drains, _ = num.Duration(work / float64(f.Slots))
	if h.Drains <= limit {
		return h
	}
	perCopy := float64(f.Slots) / float64(f.Replicas) * limit.Seconds()
	wanted := math.Ceil(work/perCopy - 1e-9)
	switch {
	case f.Replicas >= most:
		h.Heat = Capped
	case wanted >= float64(most):
		h.Heat, h.Replicas = Hot, most
	default:
		h.Heat, h.Replicas = Hot, max(int(wanted), f.Replicas+1)
	}
	return h
}

func (h *HotSpot) wire(c *wire.Codec) {
	c.Word("heat", &h.Heat)
	c.When(true).Int("replicas", &h.Replicas)
	c.When(h.Heat != Unknown).Duration("drains", &h.Drains)
	c.When(h.Heat != Unknown).Duration("limit", &h.Limit)
}

// String returns the hot spot as one line, which UnmarshalText reads; LogValue, for log/slog, and MarshalJSON, which
// UnmarshalJSON reads, have the same fields.
func (h HotSpot) String() string                   { return wire.Line(h.wire) }
func (h HotSpot) LogValue() slog.Value             { return wire.Log(h.wire) }
func (h HotSpot) MarshalJSON() ([]byte, error)     { return wire.JSON(h.wire) }
func (h *HotSpot) UnmarshalJSON(data []byte) error { return wire.Read(data, h, (*HotSpot).wire) }
func (h *HotSpot) UnmarshalText(line []byte) error { return wire.Scan(line, h, (*HotSpot).wire) }
