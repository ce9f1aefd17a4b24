/* Words for password in letters that no name of a program has: пароль, 密码, mot de passe. They are told by their bytes,
 * in small letters and with a first capital, and may stand before a colon, a full-width colon or an equals sign. */
#include "core/guard/credentials_internal.h"

enum { FOREIGN_BYTES_MAX = 40 };

static const char *const WORDS[] = {
	/* Of several words, or with accents. */
	"mot de passe", "Mot de passe", "contrase\u00f1a", "Contrase\u00f1a", "palavra-passe", "Palavra-passe",
	"has\u0142o", "Has\u0142o", "l\u00f6senord", "L\u00f6senord", "\u015fifre", "\u015eifre", "parol\u0103",
	"jelsz\u00f3", "Jelsz\u00f3", "slapta\u017eodis", "Slapta\u017eodis",
	"m\u1eadt kh\u1ea9u", "M\u1eadt kh\u1ea9u",
	"kata sandi", "Kata sandi",
	/* Cyrillic: Russian, Bulgarian, Serbian, Macedonian. */
	"пароль", "Пароль", "ПАРОЛЬ", "парола", "Парола", "лозинка", "Лозинка",
	/* Greek, Hebrew, Arabic, Persian. */
	"κωδικός", "Κωδικός", "סיסמה", "סיסמא", "كلمة المرور", "كلمة السر", "رمز عبور",
	/* Chinese, Japanese, Korean, Thai, Hindi. */
	"密码", "密碼", "口令", "パスワード", "暗証番号", "비밀번호", "암호", "รหัสผ่าน", "पासवर्ड",
};

/* Nearly all names end in another way: that saves comparing. */
static bool may_end(struct str text, size_t end)
{
	unsigned char last = end > 0 ? (unsigned char)text.p[end - 1] : ' ', before;

	if (last >= 0x80 || end < 2)
		return last >= 0x80;
	before = (unsigned char)text.p[end - 2];
	switch (last) {
	case 'a': case 'o': case 'u':
		return before >= 0x80;
	case 'e':
		return before == 's' || before == 'r';
	case 's':
		return before == 'i';
	case 'i':
		return before == 'd';
	case 'd':
		return before == 'r';
	default:
		return false;
	}
}

bool credentials_foreign_word(struct str text, size_t end)
{
	size_t low = end > FOREIGN_BYTES_MAX ? end - FOREIGN_BYTES_MAX : 0;
	struct str before;

	while (end > low && credentials_among(text.p[end - 1], " \t*\"'`_"))
		end--;
	if (!may_end(text, end))
		return false;
	before = str_sub(text, low, end);
	for (size_t i = 0; i < sizeof(WORDS) / sizeof(WORDS[0]); i++)
		if (str_has_suffix(before, str_of(WORDS[i])))
			return true;
	return false;
}

/* U+FF1A has the bytes EF BC 9A. */
bool credentials_foreign_colon(const struct credentials_scan *s, size_t i, struct credential *ret)
{
	if (i < 3 || (unsigned char)s->text.p[i - 2] != 0xef || !credentials_foreign_word(s->text, i - 2))
		return false;
	return credentials_assign_given(s, NAME_PASSWORD, i, i + 1, ret);
}
