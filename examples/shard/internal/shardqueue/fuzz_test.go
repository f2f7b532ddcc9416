package shardqueue

import (
	"encoding/json"
	"testing"
)

// A queue neither panics nor breaks on any request, and each event that it decides can be applied and read again.
func FuzzRequests(f *testing.F) {
	f.Add([]byte(`{"op":"join","machine":"a","session":"s","lanes":2}`),
		[]byte(`{"op":"draw","machine":"a","session":"s","lane":1}`),
		[]byte(`{"op":"end","machine":"a","session":"s","batch":0,"calls":[{"seconds":1}]}`), int64(100_000))
	f.Add([]byte(`{"op":"join","machine":"a","session":"s","lanes":1,"factor":1000}`),
		[]byte(`{"op":"draw","machine":"a","session":"s"}`),
		[]byte(`{"op":"join","machine":"a","session":"t","lanes":1}`), int64(-1))
	f.Fuzz(func(t *testing.T, a, b, c []byte, step int64) {
		d := opened(t, 2, 10, 0, 1e7)
		for i, text := range [][]byte{a, b, c, b, c} {
			var r Request
			if json.Unmarshal(text, &r) == nil {
				d.ask(float64(int64(i)*(step%1e9))/1000, r)
			}
		}
		d.crash()
	})
}

// No event breaks a queue: it is applied, or it is refused and changes nothing.
func FuzzEvents(f *testing.F) {
	for _, e := range []Event{
		{Kind: Joined, Machine: "b", Session: "s", Lanes: 3, Factor: 2}, {Kind: Gave, Machine: "a", Batch: 1, Pieces: []int{1, 2}},
		{Kind: Ended, Machine: "a", Calls: []Ran{{Seconds: 1}}}, {Kind: Left, Machine: "a"}, {Kind: Lost, Machine: "a", At: -5},
		{Kind: Opened, Config: &Config{Machines: 1, Lease: 1000}},
	} {
		text, err := json.Marshal(e)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text, text)
	}
	f.Fuzz(func(t *testing.T, one, other []byte) {
		d := opened(t, 2, 10, 20, 30)
		d.join(0, "a", 1)
		d.draw(0, "a")
		for _, text := range [][]byte{one, other} {
			var e Event
			if json.Unmarshal(text, &e) != nil {
				continue
			}
			before := d.q.Status(at(9))
			if d.q.Apply(e) != nil && d.q.Status(at(9)) != before {
				t.Errorf("%s is refused, and changes the queue", text)
			}
		}
		d.ask(10, Request{Op: Draw, Machine: "a", Session: "s1"})
		if d.q.done > len(d.q.pieces) {
			t.Errorf("%d pieces of %d are done", d.q.done, len(d.q.pieces))
		}
	})
}
