package queue

import (
	"encoding/json"
	"testing"
)

// A queue neither panics nor breaks on any request, and each event that it decides can be applied and read again.
func FuzzRequests(f *testing.F) {
	f.Add([]byte(`{"op":"join","machine":"a","session":"s","lanes":2}`), []byte(`{"op":"draw","machine":"a","session":"s","lane":1}`),
		[]byte(`{"op":"end","machine":"a","session":"s","batch":0,"calls":[{"seconds":1}]}`), int64(100_000))
	f.Add([]byte(`{"op":"join","machine":"a","session":"s","lanes":1,"factor":1000}`), []byte(`{"op":"draw","machine":"a","session":"s"}`),
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
