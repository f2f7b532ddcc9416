package dominant

import (
	"testing"

	"github.com/straggler-go/straggler/internal/wire/wiretest"
)

func TestAnswersReadBack(t *testing.T) {
	wiretest.Through(t, nobody())
	wiretest.Through(t, Pick{Pool: 2, Resource: 0, Share: .123456789, Lacking: -1, Limit: -1})
	wiretest.Through(t, Pick{Pool: 0, Resource: -1, Lacking: 1, Limit: 0})
	wiretest.Through(t, Share{Tasks: 3, Resource: 1, Part: 2. / 3, Blocked: 0})
	wiretest.Through(t, Share{Resource: -1, Blocked: -1})
}
