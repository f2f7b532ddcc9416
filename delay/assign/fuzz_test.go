package assign

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/internal/snapshot/snapshottest"
)

func FuzzWindow(f *testing.F) {
	f.Add(100e6, 10e6, .5, 2, 1, int64(0), []byte{1, 2, 3, 200}, []byte{100, 110, 250})
	f.Add(1e300, 1e-300, 1e-300, 3, 9, int64(0), []byte{0}, []byte{})
	f.Add(0., 1., 1., 0, 0, int64(5e8), []byte{255, 0}, []byte{0})
	f.Fuzz(func(t *testing.T, size, bandwidth, contention float64, clones, inputs int, kappa int64, lags, compute []byte) {
		m := Model{
			Size: size, Bandwidth: bandwidth, Contention: contention, Clones: clones, Inputs: inputs,
			Pairing: Pairing(len(lags) % 2), InverseLag: time.Duration(kappa),
		}
		for _, b := range lags {
			lag := time.Duration(b) * 100 * time.Millisecond
			switch {
			case b == 255:
				m.Lags = append(m.Lags, Forever)
			case b%4 == 3:
				m.Cut = append(m.Cut, lag)
			default:
				m.Lags = append(m.Lags, lag)
			}
		}
		for _, b := range compute {
			m.Compute = append(m.Compute, time.Duration(b)*100*time.Millisecond)
		}
		best, err := ChooseWindow(m)
		if err != nil {
			if best != (Choice{}) {
				t.Errorf("ChooseWindow returned an error together with %+v", best)
			}
			return
		}
		switch {
		case best != best || best.Sharing < 0 || best.Sharing > 1:
			t.Errorf("%+v: the sharing %v is not a probability", m, best.Sharing)
		case best.TaskTime > best.AtOnce.TaskTime || best.TaskTime > best.InTurn.TaskTime:
			t.Errorf("%+v: %+v is not the best choice", m, best)
		case best.Window < 0 || best.Window.Seconds() > size/bandwidth+1e-6:
			t.Errorf("%+v: the window %v is out of range", m, best.Window)
		case best.Read < 0 || best.TaskTime < 0:
			t.Errorf("%+v: %+v", m, best)
		}
	})
}

func FuzzDecide(f *testing.F) {
	f.Add([]byte{3, 5, 0, 1, 2, 40, 1, 1, 9})
	f.Add([]byte{1, 0, 11, 1}) // a window of 0, and a negative wait
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
			c := Clone{State: State(b / 2 % 3), Readers: int(b / 8 % 4)}
			own = own || c.State == Finished && c.Readers == 0
			in.Clones = append(in.Clones, c)
		}
		a := Decide(inputs, window)
		switch a.Action {
		case Read, ReadShared:
			c := inputs[a.Input].Clones[a.Clone]
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
		for i := range inputs { // a window must end after the wait, and not before
			inputs[i].Waited = max(inputs[i].Waited, 0) + a.Wait
		}
		if b := Decide(inputs, window); b.Action != ReadShared {
			t.Errorf("after %v the next answer is %v", a, b)
		}
		for i := range inputs {
			inputs[i].Waited--
		}
		if b := Decide(inputs, window); b.Action != Wait {
			t.Errorf("%v, but the answer %v comes earlier", a, b)
		}
	})
}

// FuzzAhead checks the outputs that Decide leaves to other clones. Each free output is read by one clone. No clone
// waits while there is a free output that it may read.
func FuzzAhead(f *testing.F) {
	f.Add(uint8(3), uint8(0b1011), uint8(2))
	f.Fuzz(func(t *testing.T, clones, finished, first uint8) {
		c := int(clones%6) + 2
		outputs := make([]Clone, c)
		free := 0
		for i := range outputs {
			if finished>>(i%8)&1 == 1 {
				outputs[i].State = Finished
				free++
			}
		}
		taken := make([]bool, c)
		for turn := range c {
			clone := (turn*(c-1) + int(first)) % c // the clones ask in an arbitrary order
			if taken[clone] {
				continue
			}
			in := Input{Clones: outputs}
			for other := range clone {
				if !taken[other] {
					in.Ahead++
				}
			}
			d := Decide([]Input{in}, Forever)
			if want := clone < free; want != (d.Action == Read) {
				t.Fatalf("clone %d out of %d, with %d free outputs, got %v", clone, c, free, d)
			}
			if d.Action == Read {
				outputs[d.Clone].Readers++
				taken[clone] = true
			}
		}
		for i, cp := range outputs {
			if cp.Readers > 1 {
				t.Fatalf("output %d has %d readers", i, cp.Readers)
			}
		}
	})
}

// FuzzSnapshot reads arbitrary bytes as a table. The result is an error, or a table that answers and is written as it
// was read.
func FuzzSnapshot(f *testing.F) {
	w, _ := NewWindowTable(WindowTableConfig{Bins: []int{5}, MinSamples: 2, Keep: 3})
	for i := range 5 {
		w.ObserveLag(1, time.Duration(i)*time.Second)
		w.ObserveCompute(1, 10*time.Second)
		w.ObserveCut(1, time.Duration(i)*time.Second)
		w.ObserveRead(1, 1e6, time.Second, i%2 == 0)
	}
	w.Refresh()
	for _, table := range []*WindowTable{w, {}} {
		data, _ := table.MarshalBinary()
		f.Add(snapshottest.Body(data))
		f.Add(data[:len(data)/2])
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		w := new(WindowTable)
		if w.UnmarshalBinary(snapshottest.Sealed(data)) != nil {
			require.Equal(t, new(WindowTable), w)
			return
		}
		snapshottest.Through(t, w)
		w.For(Job{Tasks: 1, Clones: 3, Inputs: 2})
		w.ObserveLag(1, time.Second)
		w.ObserveRead(1, 1e6, time.Second, false)
		w.Refresh()
		w.For(Job{Tasks: 1})
	})
}
