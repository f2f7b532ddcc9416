package restart

import "github.com/straggler-go/straggler/internal/wire"

// MarshalJSON returns the fields that are not zero, kebab-case, durations in seconds, Off as -1; UnmarshalJSON reads it.
func (m Mantri) MarshalJSON() ([]byte, error)     { return wire.JSON(wire.Settings(&m)) }
func (m *Mantri) UnmarshalJSON(data []byte) error { return wire.Read(data, m, wire.Struct) }

// MarshalJSON returns the fields that are not zero, as Mantri's does; UnmarshalJSON reads it.
func (c LeastCost) MarshalJSON() ([]byte, error)     { return wire.JSON(wire.Settings(&c)) }
func (c *LeastCost) UnmarshalJSON(data []byte) error { return wire.Read(data, c, wire.Struct) }

// MarshalJSON returns the fields that are not zero, Off as -1; UnmarshalJSON reads it.
func (l Limits) MarshalJSON() ([]byte, error)     { return wire.JSON(wire.Settings(&l)) }
func (l *Limits) UnmarshalJSON(data []byte) error { return wire.Read(data, l, wire.Struct) }
