package delay

import (
	"testing"
	"time"
)

// FuzzLocality plays any sequence of offers, rounds, candidates and clock steps under any waits, and checks what must hold of
// every answer.
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
				now = now.Add(time.Duration(arg-8) * time.Second) // back, too
			default:
				before, _ := j.Allowed(now)
				copied := j
				d := j.Offer(now, arg%(levels+2)-1)
				if again := copied.Offer(now, arg%(levels+2)-1); again != d {
					t.Fatalf("%v, then %v", d, again)
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
		t.Fatalf("allowed %d before: %v", before, d)
	case (d.Action == Launch) != (exists && d.Level <= d.Allowed), d.Rejected() != (exists && d.Level > d.Allowed):
		t.Fatalf("wrong answer: %v", d)
	case d.Rise < 0 || d.Misses < 0 || d.Allowed >= j.policy.Levels():
		t.Fatalf("out of range: %v", d)
	}
	if d.Rise == 0 {
		return
	}
	level, rise := j.Allowed(now)
	sooner, later := *j, *j
	if rise != d.Rise {
		t.Fatalf("%v, then a rise in %v", d, rise)
	}
	if l, _ := sooner.Allowed(now.Add(d.Rise - 1)); l != level {
		t.Fatalf("%v, but level %d before that", d, l)
	}
	if l, _ := later.Allowed(now.Add(d.Rise)); l <= level {
		t.Fatalf("%v, but level %d then", d, l)
	}
}

func FuzzWindow(f *testing.F) {
	f.Add(100e6, 10e6, .5, 2, []byte{1, 2, 3, 200})
	f.Add(1e300, 1e-300, 1e-300, 3, []byte{0})
	f.Add(0., 1., 1., 0, []byte{255, 0})
	f.Fuzz(func(t *testing.T, size, bandwidth, contention float64, clones int, raw []byte) {
		tr := Transfer{Size: size, Bandwidth: bandwidth, Contention: contention, Clones: clones}
		for _, b := range raw {
			lag := time.Duration(b) * 100 * time.Millisecond
			if b == 255 {
				lag = Forever
			}
			tr.Lags = append(tr.Lags, lag)
		}
		best, err := Window(tr)
		if err != nil {
			if best != (Best{}) {
				t.Errorf("an error and %+v", best)
			}
			return
		}
		switch {
		case best != best || best.Sharing < 0 || best.Sharing > 1:
			t.Errorf("%+v: sharing %v", tr, best.Sharing)
		case best.Read > best.AtOnce || best.Read > best.InTurn:
			t.Errorf("%+v: %+v is not the best", tr, best)
		case best.Window < 0 || best.Window.Seconds() > size/bandwidth+1e-6:
			t.Errorf("%+v: the window is %v", tr, best.Window)
		}
	})
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

func FuzzAssign(f *testing.F) {
	f.Add([]byte{3, 5, 0, 1, 2, 40, 1, 1, 9})
	f.Add([]byte{1, 0, 11, 1}) // a window of 0, and a clock that stepped back
	f.Fuzz(func(t *testing.T, raw []byte) {
		if len(raw) < 1 {
			return
		}
		window := (time.Duration(raw[0]%8) - 1) * time.Second
		var inputs []Input
		own := false
		for _, b := range raw[1:] {
			if b&1 == 0 || len(inputs) == 0 {
				inputs = append(inputs, Input{Waited: (time.Duration(b/2%16) - 2) * time.Second})
				continue
			}
			in := &inputs[len(inputs)-1]
			c := Copy{State: State(b / 2 % 3), Readers: int(b / 8 % 4)}
			own = own || c.State == Finished && c.Readers == 0
			in.Copies = append(in.Copies, c)
		}
		a := Assign(inputs, window)
		switch a.Action {
		case Read, Share:
			c := inputs[a.Input].Copies[a.Copy]
			if c.State != Finished || (a.Action == Read) != (c.Readers == 0) || (a.Action == Read) != own || a.Wait != 0 {
				t.Errorf("%+v: %v", inputs, a)
			}
		case Wait:
			if own || a.KillRest || a.Wait < 0 || (a.Wait == 0) == (a.Reason == WindowOpen) {
				t.Errorf("%+v: %v", inputs, a)
			}
		default:
			t.Errorf("%v", a)
		}
		if a.Wait == 0 {
			return
		}
		for i := range inputs { // after the wait, and not before, some window is over
			inputs[i].Waited = max(inputs[i].Waited, 0) + a.Wait
		}
		if b := Assign(inputs, window); b.Action != Share {
			t.Errorf("%v, and then %v", a, b)
		}
		for i := range inputs {
			inputs[i].Waited--
		}
		if b := Assign(inputs, window); b.Action != Wait {
			t.Errorf("%v, but %v before that", a, b)
		}
	})
}
