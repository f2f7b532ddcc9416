package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler"
	"github.com/straggler-go/straggler/internal/enum"
	"github.com/straggler-go/straggler/internal/num"
)

type action uint8

var names = [...]string{"keep", "kill"}

func (a action) String() string                   { return enum.Name(names[:], a) }
func (a action) MarshalText() ([]byte, error)     { return enum.Text(names[:], a) }
func (a *action) UnmarshalText(text []byte) error { return enum.Parse(names[:], text, a) }

// inner stands for a type of another package.
type inner struct {
	Basis string
	Gain  time.Duration
}

func (v *inner) wire(c *Codec) {
	c.Text("basis", &v.Basis)
	c.Duration("gain", &v.Gain)
}

func (v inner) String() string               { return Line(v.wire) }
func (v inner) LogValue() slog.Value         { return Log(v.wire) }
func (v inner) MarshalJSON() ([]byte, error) { return JSON(v.wire) }
func draw[T any](r *rand.Rand, of ...T) T    { return of[r.IntN(len(of))] }
func someTime(r *rand.Rand) time.Duration    { return time.Duration(r.Int64() >> r.IntN(64)) }
func number(r *rand.Rand) float64            { return math.Ldexp(r.Float64(), r.IntN(60)-30) }

// all has a field of each kind.
type all struct {
	Action     action
	Move       bool
	Copy       int
	Rule       action
	Bytes      int64
	Pool       int
	Value      float64
	Kill       bool
	Name       string
	Left       time.Duration
	At         time.Time
	Budget     int
	Level      float64
	Allowed    time.Duration
	Tokens     int64
	Spent, Cap int
	Wait       time.Duration
	Share      float64
	Count      int
	Avoid      []int
	Loads      []int64
	Ends       []float64
	Hosts      []string
	Steps      []inner
	Value2     inner
	Last       inner
}

func (v *all) wire(c *Codec) {
	c.Kind("all")
	c.Word("action", &v.Action)
	c.Flag("move", &v.Move, "stay", "move")
	c.When(v.Action == 1).Int("copy", &v.Copy)
	c.Enum("rule", &v.Rule)
	c.Int64("bytes", &v.Bytes)
	c.Index("pool", &v.Pool)
	c.Float("value", &v.Value)
	c.Bool("kill", &v.Kill)
	c.Text("name", &v.Name)
	c.Duration("left", &v.Left)
	c.Time("at", &v.At)
	Limit(c, "budget", &v.Budget)
	Limit(c, "level", &v.Level)
	Limit(c, "allowed", &v.Allowed)
	Limit(c, "tokens", &v.Tokens)
	c.When(v.Move).Int("spent", &v.Spent)
	Limit(c.When(v.Move), "cap", &v.Cap)
	Choice(c, "wait", &v.Wait)
	Choice(c, "share", &v.Share)
	Choice(c, "count", &v.Count)
	Numbers(c, "avoid", &v.Avoid)
	Numbers(c, "loads", &v.Loads)
	c.Floats("ends", &v.Ends)
	c.Texts("hosts", &v.Hosts)
	List(c, "steps", &v.Steps, (*inner).wire)
	c.Value("value2", &v.Value2)
	c.Inline(&v.Last)
}

func random(r *rand.Rand) (v all) {
	text := func() string { return draw(r, "", "a", "a b", `"`, "(", "x=y", "off", "?", "null", "é\n\\", "1,2") }
	in := func() inner { return inner{text(), draw(r, 0, num.MinDuration, num.MaxDuration, someTime(r))} }
	v = all{
		Action: draw[action](r, 0, 1), Move: draw(r, true, false), Rule: draw[action](r, 0, 1), Bytes: r.Int64() - r.Int64(),
		Pool: r.IntN(5) - 1, Value: draw(r, 0, number(r), -number(r), math.Inf(1), math.Inf(-1)), Kill: draw(r, true, false), Name: text(),
		Left: draw(r, 0, num.MinDuration, num.MaxDuration, someTime(r), -someTime(r)), At: draw(r, time.Time{}, time.Unix(0, r.Int64()).UTC()),
		Budget: draw(r, 0, math.MaxInt, 7), Level: draw(r, 0, math.Inf(1), number(r)),
		Allowed: draw(r, 0, num.MaxDuration, someTime(r)), Tokens: draw(r, 0, math.MaxInt64, r.Int64()),
		Wait: draw(r, 0, -1, someTime(r)), Share: draw(r, 0, -1, number(r)), Count: draw(r, 0, -1, 3), Value2: in(), Last: in(),
	}
	if v.Action == 1 {
		v.Copy = r.IntN(3)
	}
	if v.Move {
		v.Spent, v.Cap = r.IntN(3), draw(r, 0, 7, math.MaxInt)
	}
	for range r.IntN(3) {
		v.Avoid, v.Loads = append(v.Avoid, r.IntN(9)), append(v.Loads, r.Int64())
		v.Ends, v.Hosts = append(v.Ends, number(r)), append(v.Hosts, text())
		v.Steps = append(v.Steps, in())
	}
	return v
}

// choice has a field of each kind that can be read.
type choice struct {
	Action action
	Bytes  int64
	Value  float64
	Kill   bool
	Name   string
	Left   time.Duration
	Budget int
	Level  float64
	Wait   time.Duration
	Share  float64
	Count  int
	Avoid  []int
	Ends   []float64
	Hosts  []string
	Steps  []inner
	Times  times
	Move   bool
	Rule   action
}

// times is a configuration within a configuration, found by its fields.
type times struct {
	Short, Long time.Duration
	Each        []time.Duration
	Charge      action
	More        struct{ Tasks int }
}

func (v *choice) wire(c *Codec) {
	c.Word("action", &v.Action)
	c.Int64("bytes", &v.Bytes)
	c.Float("value", &v.Value)
	c.Bool("kill", &v.Kill)
	c.Text("name", &v.Name)
	c.Duration("left", &v.Left)
	Limit(c, "budget", &v.Budget)
	Limit(c, "level", &v.Level)
	Choice(c, "wait", &v.Wait)
	Choice(c, "share", &v.Share)
	Choice(c, "count", &v.Count)
	Numbers(c, "avoid", &v.Avoid)
	c.Floats("ends", &v.Ends)
	c.Texts("hosts", &v.Hosts)
	List(c, "steps", &v.Steps, (*inner).wire)
	Struct(&v.Times, c)
	c.Flag("move", &v.Move, "stay", "move")
	c.Enum("rule", &v.Rule)
}

func randomChoice(r *rand.Rand) (v choice) {
	a := random(r)
	v = choice{
		Action: a.Action, Bytes: a.Bytes, Value: a.Value, Kill: a.Kill, Name: a.Name, Left: a.Left, Budget: a.Budget,
		Level: a.Level, Wait: a.Wait, Share: a.Share, Count: a.Count, Avoid: a.Avoid, Ends: a.Ends, Hosts: a.Hosts,
		Steps: a.Steps, Times: times{Short: a.Wait, Charge: a.Rule}, Move: a.Move, Rule: a.Rule,
	}
	if v.Move {
		v.Times.Each, v.Times.More.Tasks = []time.Duration{1, -1, a.Wait}, a.Count
	}
	return v
}

func TestJSONReadsBackAsAnEqualValue(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		v := randomChoice(r)
		data, err := JSON(v.wire)
		require.NoError(t, err)
		require.True(t, json.Valid(data), "%s", data)
		var back choice
		require.NoError(t, Read(data, &back, (*choice).wire), "%s", data)
		require.Equal(t, v, back, "%s", data)
	}
}

// The three forms have the same keys, and a log has the values of the JSON.
func TestALogHasTheFieldsOfTheJSON(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 500 {
		v := random(r)
		v.Bytes >>= 20
		for _, d := range []*time.Duration{&v.Left, &v.Allowed, &v.Wait, &v.Value2.Gain, &v.Last.Gain} {
			if *d != num.MinDuration && *d != num.MaxDuration {
				*d %= 100 * 24 * time.Hour // above 104 days the float in a log is not exact
			}
		}
		v.At = time.Time{}
		data, err := JSON(v.wire)
		require.NoError(t, err)
		var log bytes.Buffer
		slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "v", slog.AnyValue(Log(v.wire)))
		var line struct{ V map[string]any }
		require.NoError(t, json.Unmarshal(log.Bytes(), &line))
		var object map[string]any
		require.NoError(t, json.Unmarshal(data, &object))
		maps.DeleteFunc(object, func(_ string, v any) bool { // slog leaves out empty groups
			inner, ok := v.(map[string]any)
			return ok && len(inner) == 0
		})
		require.Equal(t, object, line.V, "%s\n%s", data, log.String())
	}
}

func TestEachFormIsWrittenAsDocumented(t *testing.T) {
	v := all{
		Action: 1, Pool: -1, Left: 65834927134, Value: .123456789, Budget: math.MaxInt, Wait: -1, Share: .123456789,
		Name: "a b", Avoid: []int{3, 7}, Level: math.Inf(1), Steps: []inner{{"age", num.MinDuration}}, Last: inner{Gain: num.MaxDuration},
	}
	assert.Equal(t, `all kill stay copy=0 rule=keep value=0.123457 name="a b" left=65.8349s budget=off level=off wait=off`+
		` share=0.123456789 avoid=3,7 steps=(basis=age gain=?) value2=() gain=inf`, Line(v.wire))
	data, err := JSON(v.wire)
	require.NoError(t, err)
	assert.Equal(t, `{"action":"kill","move":false,"copy":0,"rule":"keep","value":0.123456789,"name":"a b",`+
		`"left":65.834927134,"budget":null,"level":null,"wait":-1,"share":0.123456789,"avoid":[3,7],`+
		`"steps":[{"basis":"age","gain":null}],"value2":{},"gain":9223372036.854775807}`, string(data))
}

func TestUnknownOrMisplacedFieldsAreNamed(t *testing.T) {
	const place = "internal/wire: choice."
	for text, want := range map[string]string{
		`{"action":"keep","colour":3}`: place + `colour is "3", want one of the fields action, bytes`,
		`{"action":"hold"}`:            `internal/wire: action is "hold", want one of: keep, kill`,
		`{"action":1}`:                 place + `action is "1", want a word`,
		`{"bytes":"7"}`:                place + `bytes is "7", want a whole number`,
		`{"bytes":1.5}`:                place + `bytes is "1.5", want a whole number`,
		`{"left":"1s"}`:                place + `left is "1s", want a number of seconds`,
		`{"left":1e999}`:               place + `left is "1e999", want a number of seconds`,
		`{"move":"move"}`:              place + `move is "move", want true or false`,
		`{"name":7}`:                   place + `name is "7", want a text`,
		`{"avoid":7}`:                  place + `avoid is "7", want a list`,
		`{"avoid":["7"]}`:              place + `avoid is "[\"7\"]", want a list`,
		`{"steps":[{"x":1}]}`:          place + `x is "1", want one of the fields basis, gain`,
		`{"more":{"x":1}}`:             place + `x is "1", want one of the fields tasks`,
		`{"more":7}`:                   place + `more is "7", want an object`,
		`[]`:                           `want its fields as an object`,
		`7`:                            `want its fields as an object`,
		`{"budget":true}`:              place + `budget is "true", want a whole number, or null`,
	} {
		v := choice{Name: "kept"}
		err := Read([]byte(text), &v, (*choice).wire)
		require.ErrorContains(t, err, want, "%s", text)
		var field *straggler.FieldError
		require.True(t, errors.As(err, &field))
		assert.Equal(t, choice{Name: "kept"}, v)
	}
	assert.ErrorContains(t, Read([]byte(`{"at":7}`), new(all), (*all).wire), "want a time such as")
	_, err := JSON((&all{Rule: 7}).wire)
	assert.EqualError(t, err, "internal/wire: action is 7, want 0 to 1")
	_, err = JSON((&all{Value2: inner{}}).wire)
	assert.NoError(t, err)
	kept := choice{Name: "kept"}
	require.NoError(t, Read([]byte("null"), &kept, (*choice).wire))
	assert.Equal(t, "kept", kept.Name)
}

func TestSecondsAreExactAndOtherNumbersNearest(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"0": 0, "-0.000000001": -1, "9223372036.854775807": math.MaxInt64, "-9223372036.854775807": -math.MaxInt64,
		"1e-9": 1, "1.5e3": 1500 * time.Second, "0.0000000014": 1, "1e300": num.MaxDuration, "9223372037": num.MaxDuration,
		"-9999999999": num.MinDuration, "104249991.374198272": 104249991374198272,
	} {
		got, ok := parseSeconds(text)
		assert.True(t, ok, text)
		assert.Equal(t, want, got, text)
	}
	for _, text := range []string{"", "-", "1.2.3", "1.-5", "0x", "one"} {
		_, ok := parseSeconds(text)
		assert.False(t, ok, text)
	}
}

// For any text there is no panic, and a text that can be read prints and reads again.
func FuzzRead(f *testing.F) {
	v := randomChoice(rand.New(rand.NewPCG(7, 8)))
	data, _ := JSON(v.wire)
	f.Add(string(data))
	f.Fuzz(func(t *testing.T, text string) {
		var v, again choice
		if Read([]byte(text), &v, (*choice).wire) == nil {
			data, err := JSON(v.wire)
			require.NoError(t, err)
			require.NoError(t, Read(data, &again, (*choice).wire))
			if !strings.Contains(text, "null") { // NaN
				require.True(t, reflect.DeepEqual(v, again), "%s", data)
			}
		}
	})
}

// A choice of -1 s is out of range, but it must not be read as off.
func TestAChoiceOfMinusOneSecondIsNotOff(t *testing.T) {
	for _, d := range []time.Duration{-time.Second, -1, -2, time.Second} {
		data, err := JSON(func(c *Codec) { Choice(c, "d", &d) })
		require.NoError(t, err)
		var read time.Duration
		require.NoError(t, Read(data, &read, func(v *time.Duration, c *Codec) { Choice(c, "d", v) }))
		assert.Equal(t, d, read, string(data))
	}
}

// measured is a number whose key is the name of its kind.
type measured struct {
	Of   action
	Size float64
}

func (v *measured) wire(c *Codec) {
	c.When(v.Of != 0 || v.Size != 0).Keyed("of", &v.Of, "size", &v.Size)
}

func TestAKeyedNumberHasTheKeyOfItsKind(t *testing.T) {
	v := measured{1, 0.1234567}
	assert.Equal(t, "kill=0.123457", Line(v.wire))
	assert.Equal(t, []slog.Attr{slog.String("of", "kill"), slog.Float64("size", v.Size)}, Log(v.wire).Group())
	data, err := JSON(v.wire)
	require.NoError(t, err)
	assert.Equal(t, `{"of":"kill","size":0.1234567}`, string(data))
	var read measured
	require.NoError(t, Read(data, &read, (*measured).wire))
	assert.Equal(t, v, read)
}
