package num

// Sum is a running sum with twice the precision of a float64. High is the sum rounded to the nearest float64, and
// Low is the rest [Knuth, The Art of Computer Programming 2, §4.2.2, theorem B]. Use Sum if terms are also
// subtracted later: a plain sum would keep the rounding errors of all terms that were ever added. The zero value is
// 0. The two fields are the whole state, so a snapshot needs no others.
type Sum struct{ High, Low float64 }

// Add adds x to the sum. x must be finite. O(1).
func (s *Sum) Add(x float64) {
	sum := s.High + x
	part := sum - s.High
	lost := (s.High - (sum - part)) + (x - part) // the exact rounding error of the addition in sum
	lost += s.Low
	s.High = sum + lost
	s.Low = lost - (s.High - sum)
}

// Value returns the sum, rounded to the nearest float64.
func (s *Sum) Value() float64 { return s.High }
