package question_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/drydock-ml/drydock"
)

// More names, nestings and answers that rows come with.
func TestMoreRowShapes(t *testing.T) {
	t.Parallel()
	red := "single|Port light?|A=red;B=green;C=white|"
	for _, c := range []struct {
		name string
		rows [][]string
		json string
		want []string
	}{
		{
			name: "chapters within chapters", json: `{"title":"第一章","sections":[{"name":"第一节","list":[{"stem":"Port light?","options":["red","green","white"],"answer":"A"}]},{"name":"第二节","list":[{"stem":"Starboard light?","options":["red","green"],"answer":"B"}]}]}`,
			want: []string{red + "A", "single|Starboard light?|A=red;B=green|B"},
		},
		{name: "optionName, optionContent, isRight", json: `{"content":"Port light?","optionList":[{"optionName":"A","optionContent":"red","isRight":1},{"optionName":"B","optionContent":"green","isRight":0},{"optionName":"C","optionContent":"white","isRight":0}]}`, want: []string{red + "A"}},
		{name: "questionText, answerOptions", json: `{"questionText":"Port light?","answerOptions":[{"answerText":"red","isCorrect":true},{"answerText":"green","isCorrect":false},{"answerText":"white","isCorrect":false}]}`, want: []string{red + "A"}},
		{name: "title with options", json: `{"title":"Port light?","options":[{"key":"A","value":"red"},{"key":"B","value":"green"},{"key":"C","value":"white"}],"answer":"C"}`, want: []string{red + "C"}},
		{name: "opa, cop", json: `{"question":"Port light?","opa":"red","opb":"green","opc":"white","cop":0}` + "\n" + `{"question":"Port light?","opa":"red","opb":"green","opc":"white","cop":2}`, want: []string{red + "A", red + "C"}},
		{name: "list of places", json: `{"question":"Port light?","options":["red","green","white"],"answer":[0,2]}`, want: []string{"multiple|Port light?|A=red;B=green;C=white|A,C"}},
		{name: "list of places, nothing to say from where they count", json: `{"question":"Port light?","options":["red","green","white"],"answer":[1,2]}`, want: []string{"drop answer_index_ambiguous"}},
		{name: "tags and entities in fields", json: `{"question":"<p>Port&nbsp;light?<br/></p>","options":["<p>red</p>","<font color='red'>green</font>","a<b and c>d"],"answer":"A"}`, want: []string{"single|Port light?|A=red;B=green;C=a<b and c>d|A"}},
		{name: "a training row", json: `{"instruction":"Choose.","input":"Port light?\nA. red\nB. green\nC. white","output":"B"}`, want: []string{red + "B"}},
		{name: "another training row", json: `{"instruction":"Say hello.","input":"","output":"A"}`, want: []string{"drop not_a_question"}},
		{
			name: "texts of several options", rows: [][]string{{"题目", "A", "B", "C", "答案"}, {"设备有", "艇", "筏", "锚", "艇、筏"}, {"设备有", "艇", "筏", "锚", "A.艇；C.锚"}, {"设备有", "艇", "筏", "锚", "艇、桨"}},
			want: []string{"multiple|设备有|A=艇;B=筏;C=锚|A,B", "multiple|设备有|A=艇;B=筏;C=锚|A,C", "drop answer_outside_options"},
		},
		{name: "numbers of several options", rows: [][]string{{"题目", "A", "B", "C", "答案"}, {"设备有", "艇", "筏", "锚", "1,3"}, {"设备有", "艇", "筏", "锚", "2"}}, want: []string{"multiple|设备有|A=艇;B=筏;C=锚|A,C", "single|设备有|A=艇;B=筏;C=锚|B"}},
		{name: "Option 2", rows: [][]string{{"Question Text", "Option 1", "Option 2", "Option 3", "Correct Option"}, {"Port light?", "red", "green", "white", "Option 1"}, {"Port light?", "red", "green", "white", "Option 3"}}, want: []string{red + "A", red + "C"}},
		{name: "a separator of several signs", rows: [][]string{{"题目", "选项", "答案"}, {"Port light?", "red$;$green$;$white", "A"}}, want: []string{red + "A"}},
		{name: "1 and 0 under 判断题", rows: [][]string{{"题型", "题目", "答案"}, {"判断题", "左舷灯为红。", "1"}, {"判断题", "右舷灯为红。", "0"}}, want: []string{"judge|左舷灯为红。||true", "judge|右舷灯为红。||false"}},
		{
			name: "no header, rows of several kinds", rows: [][]string{
				{"1", "单选题", "左舷灯是什么颜色", "红", "绿", "A"}, {"2", "多选题", "下列哪些是号灯", "锚灯", "尾灯", "AB"}, {"3", "判断题", "右舷灯为红色。", "", "", "×"}, {"4", "单选题", "右舷灯是什么颜色", "红", "绿", "B"},
			},
			want: []string{"single|左舷灯是什么颜色|A=红;B=绿|A", "multiple|下列哪些是号灯|A=锚灯;B=尾灯|A,B", "judge|右舷灯为红色。||false", "single|右舷灯是什么颜色|A=红;B=绿|B"},
		},
		{
			name: "a stem with its key, options in the rows below", rows: [][]string{{"1、左舷灯为", "A"}, {"A、红  B、绿"}, {"C、白"}, {"2、右舷灯为", "B"}, {"A、红  B、绿"}, {"C、白"}},
			want: []string{"single|左舷灯为|A=红;B=绿;C=白|A", "single|右舷灯为|A=红;B=绿;C=白|B"},
		},
		{
			name: "number, stem and key in cells, an option a row", rows: [][]string{{"1", "左舷灯为", "A"}, {"", "A. 红"}, {"", "B. 绿"}, {"2", "右舷灯为", "B"}, {"", "A. 红"}, {"", "B. 绿"}},
			want: []string{"single|左舷灯为|A=红;B=绿|A", "single|右舷灯为|A=红;B=绿|B"},
		},
		{
			name: "the same under a header", rows: [][]string{{"题号", "题目", "答案"}, {"1", "左舷灯为", "A"}, {"", "A. 红"}, {"", "B. 绿"}, {"2", "右舷灯为", "B"}, {"", "A. 红"}, {"", "B. 绿"}},
			want: []string{"single|左舷灯为|A=红;B=绿|A", "single|右舷灯为|A=红;B=绿|B"},
		},
		{
			name: "a header for each section", rows: [][]string{{"一、单选题"}, {"题号", "题目", "A", "B", "答案"}, {"1", "左舷灯为", "红", "绿", "A"}, {"二、判断题"}, {"题号", "题目", "答案"}, {"1", "右舷灯为红。", "F"}},
			want: []string{"single|左舷灯为|A=红;B=绿|A", "judge|右舷灯为红。||false"},
		},
		{name: "a column of T and F", rows: [][]string{{"题目", "答案"}, {"左舷灯为红。", "T"}, {"右舷灯为红。", "F"}}, want: []string{"judge|左舷灯为红。||true", "judge|右舷灯为红。||false"}},
		{name: "the row that shows how the form is filled in", rows: [][]string{{"题目", "A", "B", "答案"}, {"示例：请照此填写", "选项一", "选项二", "A"}, {"左舷灯为", "红", "绿", "A"}}, want: []string{"single|左舷灯为|A=红;B=绿|A", "drop not_a_question"}},
		{name: "a header of two rows", rows: [][]string{{"题库登记表"}, {"编号", "试题内容", "备选答案", "", "标准答案"}, {"", "", "A", "B", ""}, {"1", "左舷灯为", "红", "绿", "A"}}, want: []string{"single|左舷灯为|A=红;B=绿|A"}},
		{name: "names with a remark", rows: [][]string{{"", "Question - max 120 characters", "Answer 1 - max 75 characters", "Answer 2 - max 75 characters", "Time limit (sec)", "Correct answer(s) - choose at least one"}, {"1", "Port light?", "red", "green", "20", "1"}, {"2", "Starboard light?", "red", "green", "20", "2"}}, want: []string{"single|Port light?|A=red;B=green|A", "single|Starboard light?|A=red;B=green|B"}},
		{name: "columns left empty, no header", rows: [][]string{{"1", "", "左舷灯是什么颜色", "", "红", "绿", "", "A"}, {"2", "", "右舷灯是什么颜色", "", "红", "绿", "", "B"}}, want: []string{"single|左舷灯是什么颜色|A=红;B=绿|A", "single|右舷灯是什么颜色|A=红;B=绿|B"}},
		{name: "stems that count in their text", rows: [][]string{{"题目", "A", "B", "答案"}, {"1、左舷灯为", "红", "绿", "A"}, {"2、右舷灯为", "红", "绿", "B"}, {"7、8两月的灯为", "红", "绿", "B"}}, want: []string{"single|左舷灯为|A=红;B=绿|A", "single|右舷灯为|A=红;B=绿|B", "single|7、8两月的灯为|A=红;B=绿|B"}},
		{name: "an answer field with its label, an option's name", json: `{"question":"Port light?","option_1":"red","option_2":"green","option_3":"white","answer":"option_3"}` + "\n" + `{"question":"Port light?\nA. red\nB. green\nC. white","answer":"答案：A"}`, want: []string{red + "C", red + "A"}},
		{
			name: "cards", rows: [][]string{{"题目", "左舷灯为"}, {"选项A", "红"}, {"选项B", "绿"}, {"答案", "A"}, {"题目", "右舷灯为"}, {"选项A", "红"}, {"选项B", "绿"}, {"答案", "B"}},
			want: []string{"single|左舷灯为|A=红;B=绿|A", "single|右舷灯为|A=红;B=绿|B"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			doc := rowsDocument(c.rows)
			if c.json != "" {
				doc = jsonDocument(t, []byte(c.json))
			}
			for _, r := range wantShown(t, doc, c.want).records {
				if c.name == "chapters within chapters" && (len(r.Question.Subject) != 2 || r.Question.Subject[0] != "第一章") {
					t.Errorf("subject %v", r.Question.Subject)
				}
			}
		})
	}
}

// The answers of a sheet may stand in another sheet or in a key file.
func TestKeyOfRows(t *testing.T) {
	t.Parallel()
	bank := [][]string{{"题号", "题目", "A", "B"}, {"1", "左舷灯为", "红", "绿"}, {"2", "右舷灯为", "红", "绿"}}
	keys := [][]string{{"题号", "答案"}, {"2", "B"}, {"1", "A"}}
	want := []string{"single|左舷灯为|A=红;B=绿|A", "single|右舷灯为|A=红;B=绿|B"}
	var blocks []drydock.Block
	for i, row := range bank {
		blocks = append(blocks, drydock.Block{Cells: row, At: drydock.Locator{Sheet: "试题", Row: i + 1}})
	}
	for i, row := range keys {
		blocks = append(blocks, drydock.Block{Cells: row, At: drydock.Locator{Sheet: "答案", Row: i + 1}})
	}
	sheets := document(blocks)
	table := rowsDocument(bank)
	table.Key = rowsDocument(keys)
	lines := rowsDocument(bank)
	lines.Key = text("参考答案\n1-2 AB")
	for name, doc := range map[string]*drydock.Document{"sheets": sheets, "key file, a table": table, "key file, lines": lines} {
		if d := cmp.Diff(want, shown(parse(t, doc))); d != "" {
			t.Errorf("%s: (-want +got)\n%s", name, d)
		}
	}
	sheets = document(append(blocks, drydock.Block{Cells: []string{"3", "A"}, At: drydock.Locator{Sheet: "答案", Row: 4}}))
	if d := cmp.Diff(append(want, "drop key_unused"), shown(parse(t, sheets))); d != "" {
		t.Errorf("one answer too many: (-want +got)\n%s", d)
	}
	bare := rowsDocument(bank)
	if d := cmp.Diff([]string{"single|左舷灯为|A=红;B=绿|", "single|右舷灯为|A=红;B=绿|"}, shown(parse(t, bare))); d != "" {
		t.Errorf("no answers at all: (-want +got)\n%s", d)
	}
}
