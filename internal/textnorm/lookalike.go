package textnorm

// latinLooks pairs letters of other alphabets, and phonetic and squared ones,
// with the Latin letters a reader takes them for (a choice from the confusables
// of Unicode TS 39). Capitals go with the small letter of the Latin one they
// look like, and their own small letters with them, so that case folds as ever:
// Cyrillic В and в are b. Letters that stand for quantities (Δ θ λ μ π ρ σ φ ω)
// stay what they are, unless no reader could tell them apart.
const latinLooks = "АaаaВbвbЕeеeЅsѕsІiіiЈjјjКkкkМmмmНhнhОoоoРpрpСcсcТtтtУyуyҮyүyХxхxҺhһhԁdԛqԜwԝwԌgԍgӀlӏl" +
	"ΑaВbΒbΕeΖzΗhΙiΚkΜmΝnΟoοoΡpΤtΥyΧxνvϳjϲcϹcιiκk" +
	"ᴀaʙbᴄcᴅdᴇeꜰfɢgʜhɪiᴊjᴋkʟlᴍmɴnᴏoᴘpꞯqʀrꜱsᴛtᴜuᴠvᴡwʏyᴢzıiȷjɑaɡgſs" +
	"ՕoօoՍuսuոnհhցgᎪaᏴbᏟcᎠdᎬeᏀgᎻhᎥiᎫjᏦkᏞlᎷmᏢpᏒrᏚsᎢtᏙvᎳwᏃz" +
	"🅐a🅑b🅒c🅓d🅔e🅕f🅖g🅗h🅘i🅙j🅚k🅛l🅜m🅝n🅞o🅟p🅠q🅡r🅢s🅣t🅤u🅥v🅦w🅧x🅨y🅩z" +
	"🅰a🅱b🅲c🅳d🅴e🅵f🅶g🅷h🅸i🅹j🅺k🅻l🅼m🅽n🅾o🅿p🆀q🆁r🆂s🆃t🆄u🆅v🆆w🆇x🆈y🆉z"
