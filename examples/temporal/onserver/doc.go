// Package onserver has the tests of package fanout that need a server.
package onserver
