package tracker_test

import (
	"math"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/straggler-go/straggler/restart/tracker"
)

// Add adds every field, also a field that is added later.
func TestLedgerAddsEveryField(t *testing.T) {
	var sum, one tracker.Ledger
	v := reflect.ValueOf(&one).Elem()
	for i := range v.NumField() {
		v.Field(i).SetInt(int64(i + 1))
	}
	sum.Add(one)
	assert.Equal(t, one, sum)
	sum.Used = math.MaxInt64
	sum.Add(one)
	assert.Equal(t, time.Duration(math.MaxInt64), sum.Used, "the sum saturates")
}
