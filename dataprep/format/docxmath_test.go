package format_test

import (
	"strings"
	"testing"

	"github.com/drydock-ml/drydock/dataprep/format"
	"github.com/drydock-ml/drydock/dataprep/format/formattest"
)

// omml writes a paragraph with a formula; «x» stands for a run.
func omml(s string) string {
	s = strings.NewReplacer("«", "<m:r><m:t>", "»", "</m:t></m:r>").Replace(s)
	return "<w:p><m:oMath>" + s + "</m:oMath></w:p>"
}

func TestDOCXFormulas(t *testing.T) {
	t.Parallel()
	e := func(s string) string { return "<m:e>" + s + "</m:e>" }
	for _, c := range []struct{ name, body, want string }{
		{"signs only", `«GM=KM−KG»`, `GM=KM−KG`},
		{"brackets only", `«f»<m:d>` + e(`«x»`) + `</m:d>`, `f(x)`},
		{"fraction", `<m:f><m:num>«W·d»</m:num><m:den>«Δ»</m:den></m:f>`, `$\frac{W\cdot d}{\Delta}$`},
		{"slash", `<m:f><m:fPr><m:type m:val="lin"/></m:fPr><m:num>«a+b»</m:num><m:den>«2»</m:den></m:f>`, `${a+b}/2$`},
		{"binomial", `<m:d>` + e(`<m:f><m:fPr><m:type m:val="noBar"/></m:fPr><m:num>«n»</m:num><m:den>«k»</m:den></m:f>`) + `</m:d>`, `$\binom{n}{k}$`},
		{"scripts", `<m:sSubSup>` + e(`«x»`) + `<m:sub>«i»</m:sub><m:sup>«2»</m:sup></m:sSubSup>`, `$x_{i}^{2}$`},
		{"script of a group", `<m:sSup>` + e(`«ab»`) + `<m:sup>«−3»</m:sup></m:sSup>`, `${ab}^{-3}$`},
		{"script of brackets", `<m:sSup>` + e(`<m:d>`+e(`«a+b»`)+`</m:d>`) + `<m:sup>«2»</m:sup></m:sSup>`, `$(a+b)^{2}$`},
		{"script of two brackets", `<m:sSup>` + e(`«(a)(b)»`) + `<m:sup>«2»</m:sup></m:sSup>`, `${(a)(b)}^{2}$`},
		{"scripts before", `<m:sPre><m:sub>«6»</m:sub><m:sup>«14»</m:sup>` + e(`«C»`) + `</m:sPre>`, `${}_{6}^{14}C$`},
		{"roots", `<m:rad><m:radPr><m:degHide m:val="1"/></m:radPr><m:deg/>` + e(`«2»`) + `</m:rad><m:rad><m:deg>«3»</m:deg>` + e(`«x»`) + `</m:rad>`, `$\sqrt{2}\sqrt[3]{x}$`},
		{"sum", `<m:nary><m:naryPr><m:chr m:val="∑"/></m:naryPr><m:sub>«i=1»</m:sub><m:sup>«n»</m:sup>` + e(`«i»`) + `</m:nary>`, `$\sum_{i=1}^{n} i$`},
		{"integral", `<m:nary><m:sub/><m:sup/>` + e(`«xdx»`) + `</m:nary>`, `$\int xdx$`},
		{"function", `<m:func><m:fName><m:r><m:rPr><m:sty m:val="p"/></m:rPr><m:t>sin</m:t></m:r></m:fName>` + e(`<m:f><m:num>«φ»</m:num><m:den>«2»</m:den></m:f>`) + `</m:func>`, `$\sin\frac{\varphi}{2}$`},
		{"limit", `<m:func><m:fName><m:limLow>` + e(`«lim»`) + `<m:lim>«x→0»</m:lim></m:limLow></m:fName>` + e(`«f»`) + `</m:func>`, `$\lim_{x\to0} f$`},
		{"matrix", `<m:d><m:dPr><m:begChr m:val="["/><m:endChr m:val="]"/></m:dPr>` + e(`<m:m><m:mr>`+e(`«1»`)+e(`«2»`)+`</m:mr><m:mr>`+e(`«3»`)+e(`«4»`)+`</m:mr></m:m>`) + `</m:d>`, `$\begin{bmatrix}1 & 2 \\ 3 & 4\end{bmatrix}$`},
		{"cases", `<m:d><m:dPr><m:begChr m:val="{"/><m:endChr m:val=""/></m:dPr>` + e(`<m:eqArr>`+e(`«a&amp;=1»`)+e(`«b&amp;=2»`)+`</m:eqArr>`) + `</m:d>`, `$\begin{cases}a&=1 \\ b&=2\end{cases}$`},
		{"high brackets", `<m:d>` + e(`<m:f><m:num>«a»</m:num><m:den>«b»</m:den></m:f>`) + `</m:d>`, `$\left(\frac{a}{b}\right)$`},
		{"one-sided", `<m:d><m:dPr><m:begChr m:val=""/><m:endChr m:val="|"/></m:dPr>` + e(`<m:sSub>`+e(`«y»`)+`<m:sub>«0»</m:sub></m:sSub>`) + `</m:d>`, `$\left.y_{0}\right|$`},
		{"accents", `<m:acc>` + e(`«x»`) + `</m:acc><m:acc><m:accPr><m:chr m:val="⃗"/></m:accPr>` + e(`«AB»`) + `</m:acc><m:bar><m:barPr><m:pos m:val="top"/></m:barPr>` + e(`«z»`) + `</m:bar>`, `$\hat{x}\overrightarrow{AB}\overline{z}$`},
		{"words", `<m:sSub>` + e(`«v»`) + `<m:sub>«航速»</m:sub></m:sSub><m:r><m:rPr><m:nor/></m:rPr><m:t> if 5%</m:t></m:r>`, `$v_{\text{航速}}\text{ if 5\%}$`},
		{"command before a letter", `<m:sSup>` + e(`«α»`) + `<m:sup>«2»</m:sup></m:sSup>«βx»`, `$\alpha^{2}\beta x$`},
		{"mathematical letters", `<m:sSup>` + e(`«𝑥»`) + `<m:sup>«𝐁»</m:sup></m:sSup>`, `$x^{B}$`},
		{"deleted", `<m:sSup>` + e(`<w:del><m:r><m:t>n</m:t></m:r></w:del>«m»`) + `<m:sup>«2»</m:sup></m:sSup>`, `$m^{2}$`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := readAll(t, fileOf(t, "m.docx", docxBytes(t, omml(c.body), nil)))
			compare(t, []string{"para1|" + c.want}, shown(r))
		})
	}
}

func TestHTMLFormulas(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, body, want string }{
		{"scripts", `<math><msubsup><mi>x</mi><mi>i</mi><mn>2</mn></msubsup><mo>≤</mo><mi>π</mi></math>`, `$x_{i}^{2}\leq\pi$`},
		{"limits", `<math><munderover><mo>∑</mo><mrow><mi>i</mi><mo>=</mo><mn>1</mn></mrow><mi>n</mi></munderover><mi>i</mi></math>`, `$\sum_{i=1}^{n}i$`},
		{"roots", `<math><msqrt><mn>2</mn></msqrt><mroot><mi>x</mi><mn>3</mn></mroot></math>`, `$\sqrt{2}\sqrt[3]{x}$`},
		{"accent", `<math><mover><mi>x</mi><mo>→</mo></mover></math>`, `$\vec{x}$`},
		{"function", `<math><msup><mi>sin</mi><mn>2</mn></msup><mi>θ</mi></math>`, `$\sin^{2}\theta$`},
		{"table", `<math><mfenced><mtable><mtr><mtd><mn>1</mn></mtd><mtd><mn>2</mn></mtd></mtr><mtr><mtd><mn>3</mn></mtd><mtd><mn>4</mn></mtd></mtr></mtable></mfenced></math>`, `$\begin{pmatrix}1 & 2 \\ 3 & 4\end{pmatrix}$`},
		{"its own TeX", `<math><semantics><mi>q</mi><annotation encoding="application/x-tex">\frac{1}{2}</annotation></semantics></math>`, `$\frac{1}{2}$`},
		{"alttext", `<math alttext="{\displaystyle x^{2}}"><mi>x</mi></math>`, `$x^{2}$`},
		{"a letter", `设<math><mi>x</mi></math>为`, `设x为`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := readAll(t, fileOf(t, "m.html", []byte("<html><body><p>"+c.body+"</p></body></html>")))
			compare(t, []string{"para1|" + c.want}, shown(r))
		})
	}
}

func FuzzDOCXFormula(f *testing.F) {
	f.Add(`<m:d><m:dPr><m:begChr m:val="{"/></m:dPr><m:e><m:eqArr><m:e/></m:eqArr></m:e></m:d>`)
	f.Add(`<m:sSup><m:e><m:r><m:t>\a}</m:t></m:r></m:e></m:sSup><m:nary/>`)
	f.Fuzz(func(t *testing.T, body string) {
		r, _ := formattest.Read(t.Context(), fileOf(t, "f.docx", docxBytes(t, "<w:p><m:oMath>"+body+"</m:oMath></w:p>", nil)), format.Options{})
		checkFuzzed(t, r)
	})
}
