package handlers

import (
	"bytes"
	"encoding/json"
	"reflect"
	"time"

	"github.com/labstack/echo/v4"
)

// json answers with v. Instants in it become UTC whole seconds, and text stays as it is: <, > and & are not escaped, so
// that a plan is the same bytes here as where it was hashed.
func (s *Server) json(c echo.Context, status int, v any) error {
	b, err := encodeJSON(v)
	if err != nil {
		return err
	}
	return c.Blob(status, "application/json", b)
}

func encodeJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(wholeSeconds(reflect.ValueOf(v)).Interface()); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

var timeType = reflect.TypeFor[time.Time]()

// wholeSeconds is v with every instant in UTC and cut to whole seconds. What holds none is returned as it is; nothing
// of v is changed in place.
func wholeSeconds(v reflect.Value) reflect.Value {
	if !v.IsValid() {
		return reflect.ValueOf((*int)(nil)) // an untyped nil, which encodes as null
	}
	switch v.Kind() {
	case reflect.Struct:
		if v.Type() == timeType {
			return reflect.ValueOf(v.Interface().(time.Time).UTC().Truncate(time.Second))
		}
		out := reflect.New(v.Type()).Elem()
		out.Set(v)
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() && holdsTime(v.Field(i).Type()) {
				out.Field(i).Set(wholeSeconds(v.Field(i)))
			}
		}
		return out
	case reflect.Pointer:
		if v.IsNil() || !holdsTime(v.Type().Elem()) {
			return v
		}
		out := reflect.New(v.Type().Elem())
		out.Elem().Set(wholeSeconds(v.Elem()))
		return out
	case reflect.Interface:
		if v.IsNil() {
			return v
		}
		return wholeSeconds(v.Elem())
	case reflect.Slice:
		if v.IsNil() || !holdsTime(v.Type().Elem()) {
			return v
		}
		out := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		for i := range v.Len() {
			out.Index(i).Set(wholeSeconds(v.Index(i)))
		}
		return out
	case reflect.Map:
		if v.IsNil() || !holdsTime(v.Type().Elem()) {
			return v
		}
		out := reflect.MakeMapWithSize(v.Type(), v.Len())
		for it := v.MapRange(); it.Next(); {
			out.SetMapIndex(it.Key(), wholeSeconds(it.Value()))
		}
		return out
	default:
		return v
	}
}

// holdsTime reports whether a value of the type can lead to an instant; plain bytes, text and numbers cannot.
func holdsTime(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Struct, reflect.Interface, reflect.Map:
		return true
	case reflect.Pointer, reflect.Slice:
		return holdsTime(t.Elem())
	default:
		return false
	}
}
