package trace

import (
	"fmt"
	"slices"
	"time"
)

// The limits beyond which the times of a log written by hand are probably in another unit.
const (
	fewMillis   = 5                          // a median time of attempts below this suggests seconds
	manyMillis  = int64(6 * time.Hour / 1e6) // a median time of attempts above this, in milliseconds, suggests microseconds
	firstSecond = int64(1_000_000_000)       // the year 2001 in seconds
	firstMilli  = 1000 * firstSecond         // the same in milliseconds
	lastSecond  = 4 * firstSecond            // the year 2096 in seconds
	odd         = " Times must be milliseconds, or text as in RFC 3339"
)

// units adds a hint if the times seem not to be milliseconds. The times are not changed.
func (b *builder) units() {
	var durations []int64
	starts, seconds, millis, parts := 0, 0, 0, 0 // all; in seconds, if they are of our time; in milliseconds; with parts of a second
	for i := range b.log.Phases {
		for k := range b.log.Phases[i].Attempts {
			a := &b.log.Phases[i].Attempts[k]
			if start, ok := a.Start.Get(); ok {
				starts++
				switch {
				case start >= firstSecond && start <= lastSecond:
					seconds++
				case start >= firstMilli:
					millis++
				}
				if start%1000 != 0 || a.Finish.Or(0)%1000 != 0 {
					parts++
				}
			}
			if d, ok := a.Duration(); ok {
				durations = append(durations, d.Milliseconds())
			}
		}
	}
	if bad := b.log.Faults[BadTime]; bad > starts {
		b.hint(fmt.Sprintf("most times (%d) cannot be read, are negative, or are after the year 2248: are they in "+
			"microseconds or nanoseconds?"+odd, bad))
		return
	}
	if len(durations) == 0 {
		return
	}
	slices.Sort(durations)
	switch median := durations[len(durations)/2]; {
	case seconds == starts:
		b.hint("all times are in January and February 1970: are they in seconds?" + odd)
	case seconds > 0 && millis > 0:
		b.hint(fmt.Sprintf("%d of %d attempts start in January or February 1970, and others after 2001: are their times in seconds?"+odd,
			seconds, starts))
	case median == 0 && parts == 0:
		b.hint("half of the attempts take 0 s in a log of whole seconds: their times are not known")
	case median < fewMillis:
		b.hint(fmt.Sprintf("half of the attempts take at most %d ms: are the times in seconds?"+odd, median))
	case median > manyMillis:
		b.hint(fmt.Sprintf("half of the attempts take at least %v: are the times in microseconds?"+odd,
			(time.Duration(median) * time.Millisecond).Round(time.Minute)))
	}
}
