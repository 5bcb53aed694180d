package extcap

import (
	"errors"
	"fmt"
	"runtime"
	"strings"

	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/internal/cli/exit"
	"github.com/lshark/lshark/internal/cli/flags"
	"github.com/lshark/lshark/render/filter"
	"github.com/lshark/lshark/render/pdu"
)

// helpPage is what the help button of Wireshark opens.
const helpPage = "https://github.com/lshark/lshark/blob/main/docs/wireshark.md"

// sentence returns a line of an answer: a word, and values in braces by name.
func sentence(word string, pairs ...string) string {
	var b strings.Builder
	b.WriteString(word + " ")
	for i := 0; i < len(pairs); i += 2 {
		b.WriteString("{" + pairs[i] + "=" + plain.Replace(pairs[i+1]) + "}")
	}
	return b.String() + "\n"
}

// plain replaces what would end a value or a line.
var plain = strings.NewReplacer("{", "(", "}", ")", "\n", " ", "\r", " ")

func interfaces(version string) string {
	text := sentence("extcap", "version", version, "help", helpPage, "display", "Lustre")
	if runtime.GOOS == "linux" { // elsewhere nothing can be captured live
		text += sentence("interface", "value", localInterface, "display", "Lustre (lshark)")
	}
	return text + sentence("interface", "value", remoteInterface, "display", "Lustre remote (lshark over ssh)")
}

// linkTypes returns the answer to --extcap-dlts. The type of frames is that of the
// interface that is captured; the file names it.
func linkTypes() string {
	return sentence("dlt", "number", fmt.Sprint(pdu.LinkType), "name", "WIRESHARK_UPPER_PDU", "display", "Lustre messages") +
		sentence("dlt", "number", fmt.Sprint(capture.LinkEthernet), "name", "EN10MB", "display", "Frames")
}

// settings returns the answer to --extcap-config.
func settings(iface string) (string, error) {
	var text string
	n := 0
	add := func(call, display, kind, tooltip string, more ...string) {
		pairs := append([]string{"number", fmt.Sprint(n), "call", "--" + call, "display", display, "type", kind, "tooltip", tooltip}, more...)
		text += sentence("arg", pairs...)
		n++
	}
	if iface == remoteInterface {
		add("remote-host", "Host", "string", "host or user@host; ssh must not ask for a password", "required", "true")
		add("remote-command", "Command", "string", "how that host runs lshark, for instance sudo -n lshark", "default", "lshark")
		add("interface", "Interface", "string", "interface of that host, any for all", "default", "any")
	} else {
		add("interface", "Interface", "selector", "interface of this host, any for all", "reload", "true", "placeholder", "List again")
		values, err := interfaceValues(n - 1)
		if err != nil {
			return "", err
		}
		text += values
	}
	add("content", "Capture", "selector", "messages with all fields, or frames with comments about the messages in them")
	text += sentence("value", "arg", fmt.Sprint(n-1), "value", contentMessages, "display", "Messages, with all fields", "default", "true")
	text += sentence("value", "arg", fmt.Sprint(n-1), "value", contentFrames, "display", "Frames, with comments", "default", "false")
	add("port", "LNet ports", "string", "TCP ports that carry LNet, separated by commas", "placeholder", "988", "validation", `^([0-9]+(,[0-9]+)*)?$`)
	add("snaplen", "Bytes of a frame", "unsigned", "capture at most so many bytes of a frame, 0 for all", "range", "0,1048576", "default", "0")
	return text, nil
}

// settingValues returns the answer to --extcap-reload-option.
func settingValues(iface, name string) (string, error) {
	if iface == localInterface && strings.TrimLeft(name, "-") == "interface" {
		return interfaceValues(0)
	}
	return "", exit.Usagef("--extcap-reload-option %s: no values to list", name)
}

func interfaceValues(number int) (string, error) {
	list, err := capture.Interfaces()
	if err != nil {
		return "", err
	}
	text := sentence("value", "arg", fmt.Sprint(number), "value", "any", "display", "all interfaces", "default", "true")
	for _, i := range list {
		if !i.Up {
			continue
		}
		display := i.Name
		for _, a := range i.Addresses {
			display += " " + a.Addr().String()
		}
		text += sentence("value", "arg", fmt.Sprint(number), "value", i.Name, "display", display, "default", "false")
	}
	return text, nil
}

// filterProblem returns the answer to a filter that is to be checked: what is wrong
// with it, nothing for a correct one. Wireshark shows the first line.
func filterProblem(display string) (string, error) {
	_, err := flags.Messages(display)
	if err == nil {
		return "", nil
	}
	var syntax *filter.Error
	if !errors.As(err, &syntax) {
		return err.Error() + "\n", nil
	}
	lines := syntax.Lines()
	if syntax.Hint != "" {
		lines[0] += "; " + syntax.Hint
		lines = lines[:len(lines)-1]
	}
	return strings.Join(lines, "\n") + "\n", nil
}
