package words_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/straggler-go/straggler/examples/internal/words"
)

func TestCounted(t *testing.T) {
	for n, want := range []string{"0 tasks", "1 task", "2 tasks"} {
		assert.Equal(t, want, words.Counted(n, "task"))
	}
	assert.Equal(t, "has", words.Plural(1, "has", "have"))
	assert.Equal(t, "have", words.Plural(0, "has", "have"))
}
