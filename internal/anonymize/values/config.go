package values

import (
	"bytes"
	"net/netip"
	"strings"
)

// argument returns the replacement of an argument of a configuration command: a device, a
// parameter, a number. ids is set if numbers are IDs of users.
func (p *Mapper) argument(text []byte, ids bool) string {
	switch {
	case bytes.IndexByte(text, '=') > 0 || bytes.IndexByte(text, ' ') >= 0:
		return p.params(text)
	case ids:
		return p.setting(text, true)
	case allAre(text, isDigit) || p.vocabulary.settings[string(text)] || p.vocabulary.types[string(text)]:
		return string(text)
	case bytes.IndexByte(text, '/') >= 0 && bytes.IndexByte(text, '@') < 0:
		return p.path(text)
	}
	return p.device(text)
}

// params returns the replacement of a list of parameters, with spaces between them.
func (p *Mapper) params(text []byte) string {
	return eachPart(text, " ", func(_ int, param []byte) string {
		key, value, ok := bytes.Cut(param, []byte("="))
		if !ok {
			return p.argumentWord(param)
		}
		return p.paramName(key) + "=" + p.paramValue(key, value)
	})
}

func (p *Mapper) argumentWord(word []byte) string {
	_, err := netip.ParseAddr(string(word))
	if err != nil && bytes.IndexByte(word, '.') > 0 && bytes.IndexByte(word, '@') < 0 {
		return p.paramName(word)
	}
	return p.setting(word, false)
}

// paramName returns the replacement of the name of a parameter: osc.lustre-OST0000.active.
// Its last part is a name that Lustre gives.
func (p *Mapper) paramName(name []byte) string {
	last := bytes.Count(name, []byte("."))
	return eachPart(name, ".", func(i int, part []byte) string {
		if p.vocabulary.params[string(part)] || i == last && allAre(part, isParamByte) {
			return string(part)
		}
		return p.device(part)
	})
}

func isParamByte(c byte) bool { return isLetter(c) || isDigit(c) || c == '_' }

func (p *Mapper) paramValue(key, value []byte) string {
	last := key[bytes.LastIndexByte(key, '.')+1:]
	ids := false
	for _, word := range []string{"uid", "gid", "squash", "idmap", "projid"} {
		ids = ids || bytes.Contains(last, []byte(word))
	}
	switch {
	case string(last) == "jobid_var" || string(last) == "jobid_name":
		return p.jobPattern(value)
	case bytes.IndexByte(value, '/') >= 0 && bytes.IndexByte(value, '@') < 0:
		return p.path(value)
	}
	return p.setting(value, ids && string(value) != "1")
}

// jobPattern returns the replacement of a pattern for names of jobs: %e.%u. Names of
// environment variables that schedulers set stay.
func (p *Mapper) jobPattern(text []byte) string {
	return eachRun(text, func(rest []byte) int {
		if rest[0] == '%' && len(rest) > 1 {
			return 2
		}
		return span(rest, isParamByte)
	}, func(run []byte) string {
		if run[0] == '%' {
			return string(run)
		}
		return p.settingWord(run, false)
	})
}

// setting returns the replacement of a value that may be a list: of the names, addresses
// and, if ids is set, numbers in it. Other numbers stay, with a unit behind them.
func (p *Mapper) setting(text []byte, ids bool) string {
	return eachRun(text, settingLength, func(run []byte) string { return p.settingWord(run, ids) })
}

// settingLength returns the length of the first part of a list. Colons are part of IPv6 addresses, or stand between parts.
func settingLength(text []byte) int {
	n := span(text, func(c byte) bool { return strings.IndexByte(" ,;+&|<>{}=\n\t", c) < 0 })
	at, colon := bytes.IndexByte(text[:n], '@'), bytes.IndexByte(text[:n], ':')
	switch {
	case text[0] == ':' && !bytes.HasPrefix(text, []byte("::")):
		return 0
	case at < 0 && colon >= 0:
		const longest = 45 // of an address with all its digits; zones may be of any length
		if _, err := netip.ParseAddr(string(text[:min(n, longest)])); err != nil || n > longest {
			return colon
		}
	case at >= 0 && bytes.IndexByte(text[at:n], ':') > 0: // a list of NIDs
		return at + bytes.IndexByte(text[at:n], ':')
	}
	return n
}

func (p *Mapper) settingWord(word []byte, ids bool) string {
	digits := span(word, isDigit)
	switch {
	case p.vocabulary.settings[string(word)]:
		return string(word)
	case digits == len(word) && ids:
		return p.jobToken(word)
	case digits > 0 && len(word)-digits <= 3 && span(word[digits:], isUnitByte) == len(word)-digits:
		return string(word)
	case bytes.IndexByte(word, '@') >= 0:
		return p.nidText(word)
	}
	return p.device(word)
}

// isUnitByte reports whether a character occurs in units: 16MiB, 40s, 50%.
func isUnitByte(c byte) bool { return strings.IndexByte("kKMmGgTtPpEeiBbsuhd%", c) >= 0 }

// comment returns the replacement of the comment of a section of a configuration: "lov
// setup", "new lustre.pool", "osc.*.max_dirty_mb".
func (p *Mapper) comment(text []byte) string {
	pool := false
	return eachPart(text, " ", func(i int, word []byte) string {
		switch {
		case p.vocabulary.comments[string(word)]:
			pool = i == 0
			return string(word)
		case bytes.IndexByte(word, '.') > 0 && pool:
			return eachPart(word, ".", func(_ int, part []byte) string { return p.device(part) })
		}
		return p.params(word)
	})
}
