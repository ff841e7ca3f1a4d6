package selftest

import (
	"math/rand/v2"
	"strings"
)

// maxCarrier is how much of the user's text is kept, in characters: enough that
// no two copies stand in the same place.
const maxCarrier = 1 << 20

// minCarrier is the least text of the user's own that copies can be hidden in.
const minCarrier = 200

// A Carrier holds text of the user's own data, in which copies are hidden. Give
// it only what the check found nothing in.
type Carrier struct {
	text    []rune
	chat    int // rows that are conversations
	records int
}

// Add takes the text of one record. chat says that it is a conversation.
func (c *Carrier) Add(text string, chat bool) {
	c.records++
	if chat {
		c.chat++
	}
	if !c.Full() {
		c.text = append(append(c.text, []rune(strings.TrimSpace(text))...), '\n')
	}
}

// Full reports whether more text would not be kept.
func (c *Carrier) Full() bool { return len(c.text) >= maxCarrier }

// chats reports whether most rows are conversations, so that copies are, too.
func (c *Carrier) chats() bool { return 2*c.chat > c.records }

// cut returns n characters from a random place; text shorter than that begins
// again.
func (c *Carrier) cut(rng *rand.Rand, n int) string {
	from := rng.IntN(len(c.text))
	out := make([]rune, 0, n)
	for len(out) < n {
		part := c.text[from:min(len(c.text), from+n-len(out))]
		out = append(out, part...)
		from = 0
	}
	return string(out)
}
