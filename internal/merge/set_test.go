package merge

import (
	"iter"
	"slices"
	"time"

	"github.com/straggler-go/straggler/internal/snapshot"
)

// set is the smallest type that shares a list: the list and its origins.
type set[T any] struct {
	List[T]
	origins Origins
}

func (s *set[T]) add(c Choices, now time.Duration, fact T) { s.Add(&s.origins, c, now, fact) }

func (s *set[T]) newest(f Form[T], c Choices, now time.Duration, most int) []Observation[T] {
	kept := s.Newest(&s.origins, f.Fact, c, now, most)
	s.origins.Forget(c.Since(now), c.By(now))
	return kept
}

func (s *set[T]) delta(f Form[T], c Choices, now time.Duration, since []byte, of ...string) ([]byte, error) {
	return f.AppendDelta(nil, since, &s.origins, c, now, of, iter.Seq[Observation[T]](slices.Values(s.All())))
}

func (s *set[T]) merge(f Form[T], c Choices, now time.Duration, delta []byte) error {
	seen, err := f.Read(&s.origins, c, now, delta)
	for _, v := range seen {
		s.Put(v)
	}
	return err
}

func (s *set[T]) state(f Form[T], c *snapshot.Codec, by time.Duration) {
	s.origins.State(c)
	s.State(&s.origins, f.Fact, c, by)
}
