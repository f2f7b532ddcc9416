package delay

import (
	"testing"
	"time"
)

// FuzzLocality plays arbitrary sequences of offers, rounds, candidates and clock steps under arbitrary waits. The
// fuzz test checks the invariants of every answer.
func FuzzLocality(f *testing.F) {
	f.Add([]byte{0, 2, 15, 15, 0, 1, 15, 1, 16, 2})
	f.Add([]byte{2, 1, 3, 1, 0, 1, 2, 4, 3, 1, 0, 5, 7})
	f.Add([]byte{4, 3, 2, 0, 9, 3, 3, 3, 3, 3, 2, 2, 1})
	f.Fuzz(func(t *testing.T, script []byte) {
		if len(script) < 2 {
			return
		}
		levels := int(script[1]%5) + 1
		if len(script) < levels+1 {
			return
		}
		policy := fuzzPolicy(t, script[0], script[2:levels+1])
		j, now := policy.Start(start), start
		for _, op := range script[levels+1:] {
			arg := int(op >> 3)
			switch op & 7 {
			case 0:
				j.EndRound(now, arg&1 == 0)
			case 1:
				j.SetCandidates(now, uint64(arg))
			case 2:
				now = now.Add(time.Duration(arg-8) * time.Second) // the clock may step back
			default:
				before, _ := j.Allowed(now)
				copied := j
				d := j.Offer(now, arg%(levels+2)-1)
				if again := copied.Offer(now, arg%(levels+2)-1); again != d {
					t.Fatalf("the same offer was answered with %v and then with %v", d, again)
				}
				checkDecision(t, &j, now, before, d)
			}
		}
	})
}

func fuzzPolicy(t *testing.T, kind byte, waits []byte) *Policy {
	c := Config{Reset: Reset(kind % 3)}
	for _, w := range waits {
		switch {
		case kind/3%2 == 1:
			c.Misses = append(c.Misses, int(w%8))
		case w == 255:
			c.Waits = append(c.Waits, Forever)
		default:
			c.Waits = append(c.Waits, time.Duration(w%32)*time.Second)
		}
	}
	policy, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return policy
}

func checkDecision(t *testing.T, j *Locality, now time.Time, before int, d Decision) {
	exists := d.Level >= 0 && d.Level < j.policy.Levels()
	switch {
	case d.Allowed != before:
		t.Fatalf("the allowed level was %d before %v", before, d)
	case (d.Action == Launch) != (exists && d.Level <= d.Allowed), (d.Reason == Delayed) != (exists && d.Level > d.Allowed):
		t.Fatalf("%v contradicts the allowed level", d)
	case d.NextLevelIn < 0 || d.Misses < 0 || d.Allowed >= j.policy.Levels():
		t.Fatalf("%v has a value out of range", d)
	}
	if d.NextLevelIn == 0 {
		return
	}
	level, rise := j.Allowed(now)
	sooner, later := *j, *j
	if rise != d.NextLevelIn {
		t.Fatalf("%v, but Allowed says that the level rises in %v", d, rise)
	}
	if l, _ := sooner.Allowed(now.Add(d.NextLevelIn - 1)); l != level {
		t.Fatalf("%v, but the level rises earlier, to %d", d, l)
	}
	if l, _ := later.Allowed(now.Add(d.NextLevelIn)); l <= level {
		t.Fatalf("%v, but the level is %d at that time", d, l)
	}
}

func FuzzGain(f *testing.F) {
	f.Add(int64(6), int64(3), int64(10))
	f.Add(int64(Forever), int64(Forever), int64(Forever))
	f.Fuzz(func(t *testing.T, w, s, d int64) {
		wait, spacing, cost := time.Duration(w), time.Duration(s), time.Duration(d)
		gain, err := Gain(wait, spacing, cost)
		if (err != nil) != (w < 0 || s < 0 || d < 0) {
			t.Fatal(gain, err)
		}
		if err != nil || spacing == Forever || cost == Forever {
			return
		}
		if gain > 0 && cost <= spacing || gain < 0 && cost >= spacing {
			t.Errorf("Gain(%v, %v, %v) = %v", wait, spacing, cost, gain)
		}
	})
}
