package monitor

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// age is a flag with a time that may be in days.
type age time.Duration

const day = 24 * time.Hour

func (a *age) Set(text string) error {
	d, err := time.ParseDuration(text)
	if days, ok := strings.CutSuffix(text, "d"); ok {
		var n uint64
		n, err = strconv.ParseUint(days, 10, 16)
		d = time.Duration(n) * day
	}
	if err != nil || d < 0 {
		return errors.New("must be a time, such as 1h or 30d")
	}
	*a = age(d)
	return nil
}

func (a *age) String() string {
	d := time.Duration(*a)
	switch {
	case d == 0:
		return "0"
	case d%day == 0:
		return strconv.FormatInt(int64(d/day), 10) + "d"
	}
	return withoutZeros.Replace(d.String())
}

var withoutZeros = strings.NewReplacer("h0m0s", "h", "m0s", "m")

func (*age) Type() string { return "TIME" }

// fraction is a flag with a fraction 1/N; 0 is none.
type fraction uint64

func (f *fraction) Set(text string) error {
	rest, ok := strings.CutPrefix(text, "1/")
	n, err := strconv.ParseUint(rest, 10, 63)
	if !ok || err != nil || n == 0 {
		return errors.New("must be 1/N, such as 1/1000")
	}
	*f = fraction(n)
	return nil
}

func (f *fraction) String() string {
	if *f == 0 {
		return ""
	}
	return fmt.Sprintf("1/%d", uint64(*f))
}

func (*fraction) Type() string { return "1/N" }
