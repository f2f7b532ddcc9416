package risk

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func BenchmarkOf(b *testing.B) {
	for s := TaskLevel; s <= RandomAvoidance; s++ {
		b.Run(s.String()+"/c=3", func(b *testing.B) {
			for b.Loop() {
				if r, err := Of(s, 10, 3, .1); r == 0 || err != nil {
					b.Fatal(r, err)
				}
			}
		})
	}
}

func TestNothingAllocates(t *testing.T) {
	assert.Zero(t, testing.AllocsPerRun(100, func() { _, _ = Of(Avoidance, 10, 3, .1) }))
}
