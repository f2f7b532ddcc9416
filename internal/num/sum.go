package num

// Sum is a running sum in twice the precision of a float64: High is the sum to the nearest float64, and Low is the
// remainder [Knuth, The Art of Computer Programming 2, §4.2.2, theorem B]. Use Sum if terms are also subtracted. A
// plain sum would keep the rounding errors of all terms ever added. The zero value is 0. The fields are the whole
// state, for a snapshot.
type Sum struct{ High, Low float64 }

// Add adds x, which must be finite. O(1).
func (s *Sum) Add(x float64) {
	sum := s.High + x
	part := sum - s.High
	lost := (s.High - (sum - part)) + (x - part) // the exact rounding error of sum
	lost += s.Low
	s.High = sum + lost
	s.Low = lost - (s.High - sum)
}

// Value returns the sum, rounded to the nearest float64.
func (s *Sum) Value() float64 { return s.High }
