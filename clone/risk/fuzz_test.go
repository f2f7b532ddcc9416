package risk

import "testing"

func FuzzOf(f *testing.F) {
	f.Add(10, 3, .1)
	f.Add(1, 1000, .999999999999)
	f.Add(1<<30, 40, .5)
	f.Fuzz(func(t *testing.T, n, c int, p float64) {
		for s := TaskLevel; s <= RandomAvoidance; s++ {
			r, err := Of(s, n, c, p)
			if err == nil && !(r >= 0 && r <= 1) {
				t.Errorf("Of(%v, %d, %d, %v) = %v", s, n, c, p, r)
			}
		}
	})
}
