package machines

import (
	"testing"

	"github.com/straggler-go/straggler/internal/wire/wiretest"
)

func TestVerdictsReadBack(t *testing.T) {
	wiretest.Through(t, Verdict{})
	wiretest.Through(t, Verdict{Standing: Slow, ClassFactor: 8.123456789, Threshold: 2, Attempts: 3, Failed: .25})
}
