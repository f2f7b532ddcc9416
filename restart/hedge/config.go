package hedge

import (
	"cmp"
	"math"
	"time"

	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/wire"
)

// Off as [Config].Budget means that no second request is sent.
const Off = check.Off

const (
	// The default percentile, and the default budget: one second request for twenty first requests.
	defaultPercentile, defaultBudget = 0.99, 0.05
	// The default share of second requests that must win. For exponential times it is a half.
	defaultWins = 1. / 3
	// The default number of requests in the window. It has ten requests beyond the percentile 0.999.
	defaultWindow = 10_000
	// The smallest and the largest window. The largest takes 32 MB for each class, and the default window 0.6 MB.
	leastWindow, mostWindow = 100, 1_000_000
	// The largest number of classes of a Hedger.
	mostClasses = 1024
	// The default time for which the window keeps a request. A service changes within hours.
	defaultKeep = 10 * time.Minute
)

// Config contains the choices of an operator. The zero value has the defaults.
type Config struct {
	// Percentile is the share of operations that must be answered in time, in (0, 1); 0 means 0.99.
	Percentile float64 `want:"probability"`
	// Budget is the largest number of second requests for each first request, in (0, 1]; 0 means 0.05, and [Off] none.
	// Unused second requests are saved for later: at most an eighth of the second requests of a window, and at least
	// two. While many more requests are late than the plan expects, the budget shrinks in proportion.
	Budget float64 `want:"share or off"`
	// Target is the time within which the percentile must be answered. The Hedger then sends as few second requests
	// as needed. 0 means that it makes the percentile as short as the budget allows. Where sizes are told, Target is
	// for a request of the first size that was told, or of the mean size if that takes a thousand times longer or
	// shorter.
	Target time.Duration `want:"length"`
	// Wins is the least probability with which a second request must win, in (0, 1]; 0 means 1/3. With 0.9, a tenth of
	// the second requests are needless, and the delay is longer. [Off] sends as many as the budget allows.
	Wins float64 `want:"share or off"`
	// Fanout is the number of requests whose answers must all come; 0 means 1. The percentile is then that of the last
	// answer.
	Fanout int
	// Window is the number of latest requests of a class from which the Hedger learns, 100 to 1,000,000; 0 means
	// 10,000. Earlier requests of up to eight windows make the quantiles more exact, while the window is like them.
	Window int
	// Keep is how long the window keeps a request; 0 means ten minutes. When a request is older, all earlier requests
	// are forgotten.
	Keep time.Duration `want:"length"`
	// Classes is the number of classes, 1 to 1024; 0 means 1. Each class has its own times and its own plan, such as
	// one for each method of a service. All classes share the budget and the account of second requests that win.
	Classes int
	// Shadow decides and counts, but sends nothing: each second request is refused with the reason InShadow. The
	// ledger then contains the expected number of won second requests, if the times of two requests are independent.
	Shadow bool
}

// Effective returns the configuration with each zero field replaced by its default.
func (c Config) Effective() Config {
	c.Percentile, c.Budget = check.Or(c.Percentile, defaultPercentile), check.Or(c.Budget, defaultBudget)
	c.Wins = check.Or(c.Wins, defaultWins)
	c.Fanout, c.Window = check.Or(c.Fanout, 1), check.Or(c.Window, defaultWindow)
	c.Keep, c.Classes = check.Or(c.Keep, defaultKeep), check.Or(c.Classes, 1)
	return c
}

// Validate returns an error for the first field that is out of range, or nil.
func (c Config) Validate() error {
	const place = "restart/hedge: Config"
	return cmp.Or(
		check.Valid(c),
		check.Within(place, "Fanout", c.Fanout, 1, math.MaxInt32),
		check.Within(place, "Window", c.Window, leastWindow, mostWindow),
		check.Within(place, "Classes", c.Classes, 1, mostClasses),
	)
}

// MarshalJSON returns a JSON object with the fields that are not zero. Field names are in kebab-case, and durations
// are in seconds. UnmarshalJSON reads the same JSON.
func (c Config) MarshalJSON() ([]byte, error)     { return wire.JSON(wire.Settings(&c)) }
func (c *Config) UnmarshalJSON(data []byte) error { return wire.Read(data, c, wire.Struct) }
