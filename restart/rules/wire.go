package rules

import "github.com/straggler-go/straggler/internal/wire"

// The JSON of a policy is an object with the fields that are not zero. The keys are in kebab-case, such as min-age.
// Durations are in seconds, and Off is -1.

// MarshalJSON returns a JSON object with the fields that are not zero. Durations are in seconds, and Off is -1.
func (p LATE) MarshalJSON() ([]byte, error) { return wire.JSON(wire.Settings(&p)) }

// UnmarshalJSON sets the policy from the output of MarshalJSON. An unknown key is an error.
func (p *LATE) UnmarshalJSON(data []byte) error { return wire.Read(data, p, wire.Struct) }

// MarshalJSON returns a JSON object with the fields that are not zero. Durations are in seconds, and Off is -1.
func (p Hadoop) MarshalJSON() ([]byte, error) { return wire.JSON(wire.Settings(&p)) }

// UnmarshalJSON sets the policy from the output of MarshalJSON. An unknown key is an error.
func (p *Hadoop) UnmarshalJSON(data []byte) error { return wire.Read(data, p, wire.Struct) }

// MarshalJSON returns a JSON object with the fields that are not zero. Durations are in seconds, and Off is -1.
func (p MapReduce) MarshalJSON() ([]byte, error) { return wire.JSON(wire.Settings(&p)) }

// UnmarshalJSON sets the policy from the output of MarshalJSON. An unknown key is an error.
func (p *MapReduce) UnmarshalJSON(data []byte) error { return wire.Read(data, p, wire.Struct) }

// MarshalJSON returns a JSON object with the fields that are not zero. Durations are in seconds, and Off is -1.
func (p Dryad) MarshalJSON() ([]byte, error) { return wire.JSON(wire.Settings(&p)) }

// UnmarshalJSON sets the policy from the output of MarshalJSON. An unknown key is an error.
func (p *Dryad) UnmarshalJSON(data []byte) error { return wire.Read(data, p, wire.Struct) }

// MarshalJSON returns a JSON object with the fields that are not zero. Durations are in seconds, and Off is -1.
func (p Spark) MarshalJSON() ([]byte, error) { return wire.JSON(wire.Settings(&p)) }

// UnmarshalJSON sets the policy from the output of MarshalJSON. An unknown key is an error.
func (p *Spark) UnmarshalJSON(data []byte) error { return wire.Read(data, p, wire.Struct) }

// MarshalJSON returns a JSON object with the fields that are not zero. Durations are in seconds, and Off is -1.
func (p Flink) MarshalJSON() ([]byte, error) { return wire.JSON(wire.Settings(&p)) }

// UnmarshalJSON sets the policy from the output of MarshalJSON. An unknown key is an error.
func (p *Flink) UnmarshalJSON(data []byte) error { return wire.Read(data, p, wire.Struct) }

// MarshalJSON returns a JSON object with the fields that are not zero. Durations are in seconds, and Off is -1.
func (p SDA) MarshalJSON() ([]byte, error) { return wire.JSON(wire.Settings(&p)) }

// UnmarshalJSON sets the policy from the output of MarshalJSON. An unknown key is an error.
func (p *SDA) UnmarshalJSON(data []byte) error { return wire.Read(data, p, wire.Struct) }

// MarshalJSON returns a JSON object with the fields that are not zero. Durations are in seconds, and Off is -1.
func (p ESE) MarshalJSON() ([]byte, error) { return wire.JSON(wire.Settings(&p)) }

// UnmarshalJSON sets the policy from the output of MarshalJSON. An unknown key is an error.
func (p *ESE) UnmarshalJSON(data []byte) error { return wire.Read(data, p, wire.Struct) }
