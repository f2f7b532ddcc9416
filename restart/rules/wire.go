package rules

import "github.com/straggler-go/straggler/internal/wire"

// A policy as JSON is an object with the fields that are not zero: kebab-case keys, durations in seconds, Off as -1.

// MarshalJSON returns the fields that are not zero, as an object.
func (p LATE) MarshalJSON() ([]byte, error) { return wire.JSON(wire.Settings(&p)) }

// UnmarshalJSON reads the output of MarshalJSON. An unknown key is an error.
func (p *LATE) UnmarshalJSON(data []byte) error { return wire.Read(data, p, wire.Struct) }

// MarshalJSON returns the fields that are not zero, as an object.
func (p Hadoop) MarshalJSON() ([]byte, error) { return wire.JSON(wire.Settings(&p)) }

// UnmarshalJSON reads the output of MarshalJSON. An unknown key is an error.
func (p *Hadoop) UnmarshalJSON(data []byte) error { return wire.Read(data, p, wire.Struct) }

// MarshalJSON returns the fields that are not zero, as an object.
func (p MapReduce) MarshalJSON() ([]byte, error) { return wire.JSON(wire.Settings(&p)) }

// UnmarshalJSON reads the output of MarshalJSON. An unknown key is an error.
func (p *MapReduce) UnmarshalJSON(data []byte) error { return wire.Read(data, p, wire.Struct) }

// MarshalJSON returns the fields that are not zero, as an object.
func (p Dryad) MarshalJSON() ([]byte, error) { return wire.JSON(wire.Settings(&p)) }

// UnmarshalJSON reads the output of MarshalJSON. An unknown key is an error.
func (p *Dryad) UnmarshalJSON(data []byte) error { return wire.Read(data, p, wire.Struct) }

// MarshalJSON returns the fields that are not zero, as an object.
func (p Spark) MarshalJSON() ([]byte, error) { return wire.JSON(wire.Settings(&p)) }

// UnmarshalJSON reads the output of MarshalJSON. An unknown key is an error.
func (p *Spark) UnmarshalJSON(data []byte) error { return wire.Read(data, p, wire.Struct) }

// MarshalJSON returns the fields that are not zero, as an object.
func (p Flink) MarshalJSON() ([]byte, error) { return wire.JSON(wire.Settings(&p)) }

// UnmarshalJSON reads the output of MarshalJSON. An unknown key is an error.
func (p *Flink) UnmarshalJSON(data []byte) error { return wire.Read(data, p, wire.Struct) }

// MarshalJSON returns the fields that are not zero, as an object.
func (p SDA) MarshalJSON() ([]byte, error) { return wire.JSON(wire.Settings(&p)) }

// UnmarshalJSON reads the output of MarshalJSON. An unknown key is an error.
func (p *SDA) UnmarshalJSON(data []byte) error { return wire.Read(data, p, wire.Struct) }

// MarshalJSON returns the fields that are not zero, as an object.
func (p ESE) MarshalJSON() ([]byte, error) { return wire.JSON(wire.Settings(&p)) }

// UnmarshalJSON reads the output of MarshalJSON. An unknown key is an error.
func (p *ESE) UnmarshalJSON(data []byte) error { return wire.Read(data, p, wire.Struct) }
