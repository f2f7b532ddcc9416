package tracker

import (
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/internal/merge"
	"github.com/straggler-go/straggler/internal/snapshot"
)

// How an experience is written, and passed on.

// lessons is how they are passed on.
func lessons() merge.Form[lesson] {
	return merge.Form[lesson]{
		Place: "restart/tracker: Experience", Kind: 'x', Fact: func(c *snapshot.Codec, l *lesson) { l.code(c) },
	}
}

func (l *lesson) code(c *snapshot.Codec) {
	snapshot.Small(c, &l.about, 0, int(abouts-1))
	if l.about == ofTrials {
		c.Real(&l.seconds)
		c.Check(l.seconds >= -estimate.MaxSample, "holds trials that have saved too much")
		c.Amount(&l.lost)
		c.Amount(&l.won)
		c.Check(l.lost <= mostAtOnce && l.won <= mostAtOnce, "holds an event of too many trials")
	} else {
		c.Amount(&l.seconds)
		c.Amount(&l.work)
		c.Check(l.about&ofLife > 0, "holds a life that is none")
	}
	c.Check(l.seconds <= estimate.MaxSample, "holds a time that is too long")
}

// mostAtOnce is how many trials one event may decide: far more than a task has copies.
const mostAtOnce = 1 << 20

// AppendVersion appends what is known, as far as a process that knows more must know that to say the rest.
func (x *Experience) AppendVersion(dst []byte) []byte { return x.seen.AppendVersion(lessons(), dst) }

// AppendDelta appends what phases of the kind have shown beyond a version, that of the reader by its AppendVersion; nil
// stands for one that knows nothing. With origins it says only what these have seen. How progress runs is not passed
// on, nor is what has not come out. It is an error if since is no version. Some 20 bytes a life.
func (x *Experience) AppendDelta(dst, since []byte, origins ...string) ([]byte, error) {
	return x.seen.AppendDelta(lessons(), x.choices(), x.clock.Since, dst, since, origins)
}

// Merge takes in what another process has seen, by its AppendDelta, in any order, and as often as it comes. Of the 256
// lessons that are kept at most half are those of one process. It is an error, and nothing is taken, if there is no
// Origin, delta is damaged or none, or, a FieldError, if it comes from more than MaxSkew ahead of now. O(1) a lesson.
func (x *Experience) Merge(now time.Time, delta []byte) error {
	at := x.choices().At(&x.clock, now)
	err := x.seen.Merge(lessons(), x.choices(), at, delta)
	x.sum(at)
	return err
}

const experienceVersion = 1

// AppendBinary appends a snapshot of the experience to dst, without what trials may cost that have not come out: that
// the phases bring back, by [Restore]. It never fails. O(1), at most 10 kB.
func (x *Experience) AppendBinary(dst []byte) ([]byte, error) {
	return snapshot.Append(dst, experienceVersion, x.code)
}

// MarshalBinary returns a snapshot; see [Experience.AppendBinary].
func (x *Experience) MarshalBinary() ([]byte, error) { return x.AppendBinary(nil) }

// UnmarshalBinary takes a snapshot, and goes on as the one that was written. What is not a snapshot is an error, and
// changes nothing.
func (x *Experience) UnmarshalBinary(data []byte) error {
	return snapshot.RestoreTo(Experience{}, data, experienceVersion, x, (*Experience).code)
}

func (x *Experience) code(c *snapshot.Codec) {
	config := x.config
	c.Duration(&config.Keep)
	c.Text(&config.Origin)
	c.Duration(&config.MaxSkew)
	if config.Keep != 0 || config.Origin != "" || config.MaxSkew != 0 {
		c.Valid(true, config)
	}
	if c.Reading() {
		x.config = config
	}
	c.Clock(&x.clock)
	c.Part(&x.shape)
	x.seen.State(lessons(), c, x.choices().Latest(x.clock))
	if c.Reading() {
		x.sum(x.clock.Since)
	}
}
