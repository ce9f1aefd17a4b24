/* Words for password in letters that no name of a program has: пароль, 密码, mot de passe. They are told by their bytes,
 * in small letters and with a first capital, and may stand before a colon, a full-width colon or an equals sign. */
#include "core/guard/credentials_internal.h"

enum { FOREIGN_BYTES_MAX = 48, WORDS_BETWEEN_MAX = 3 };

#define WORD(word, sort) {{word, sizeof(word) - 1}, sort}
static const struct foreign {
	struct str word;
	uint8_t sort;
} WORDS[] = {
	/* Of several words, or with accents. */
	WORD("mot de passe", NAME_PASSWORD), WORD("Mot de passe", NAME_PASSWORD),
	WORD("contrase\u00f1a", NAME_PASSWORD), WORD("Contrase\u00f1a", NAME_PASSWORD),
	WORD("palavra-passe", NAME_PASSWORD), WORD("Palavra-passe", NAME_PASSWORD),
	WORD("has\u0142o", NAME_PASSWORD), WORD("Has\u0142o", NAME_PASSWORD),
	WORD("l\u00f6senord", NAME_PASSWORD), WORD("L\u00f6senord", NAME_PASSWORD),
	WORD("\u015fifre", NAME_PASSWORD), WORD("\u015eifre", NAME_PASSWORD),
	WORD("parol\u0103", NAME_PASSWORD), WORD("jelsz\u00f3", NAME_PASSWORD),
	WORD("Jelsz\u00f3", NAME_PASSWORD), WORD("slapta\u017eodis", NAME_PASSWORD),
	WORD("Slapta\u017eodis", NAME_PASSWORD), WORD("m\u1eadt kh\u1ea9u", NAME_PASSWORD),
	WORD("M\u1eadt kh\u1ea9u", NAME_PASSWORD), WORD("kata sandi", NAME_PASSWORD),
	WORD("Kata sandi", NAME_PASSWORD), WORD("Passw\u00f6rter", NAME_PASSWORD),
	WORD("parola d'ordine", NAME_PASSWORD), WORD("parola chiave", NAME_PASSWORD),
	/* Cyrillic: Russian, Bulgarian, Serbian, Macedonian. */
	WORD("пароль", NAME_PASSWORD), WORD("Пароль", NAME_PASSWORD), WORD("ПАРОЛЬ", NAME_PASSWORD),
	WORD("парола", NAME_PASSWORD), WORD("Парола", NAME_PASSWORD), WORD("лозинка", NAME_PASSWORD),
	WORD("Лозинка", NAME_PASSWORD),
	/* Greek, Hebrew, Arabic, Persian. */
	WORD("κωδικός", NAME_PASSWORD), WORD("Κωδικός", NAME_PASSWORD), WORD("סיסמה", NAME_PASSWORD),
	WORD("סיסמא", NAME_PASSWORD), WORD("كلمة المرور", NAME_PASSWORD), WORD("كلمة السر", NAME_PASSWORD),
	WORD("رمز عبور", NAME_PASSWORD),
	/* Chinese, Japanese, Korean, Thai, Hindi. */
	WORD("密码", NAME_PASSWORD), WORD("密碼", NAME_PASSWORD), WORD("口令", NAME_PASSWORD),
	WORD("パスワード", NAME_PASSWORD), WORD("パスワードは", NAME_PASSWORD), WORD("暗証番号", NAME_PASSWORD),
	WORD("合言葉", NAME_PASSWORD), WORD("비밀번호", NAME_PASSWORD), WORD("암호", NAME_PASSWORD),
	WORD("รหัสผ่าน", NAME_PASSWORD), WORD("पासवर्ड", NAME_PASSWORD),
	/* Keys, tokens and secrets. */
	WORD("токен", NAME_TOKEN), WORD("Токен", NAME_TOKEN), WORD("令牌", NAME_TOKEN), WORD("トークン", NAME_TOKEN),
	WORD("секретный ключ", NAME_SECRET), WORD("Секретный ключ", NAME_SECRET), WORD("密钥", NAME_SECRET),
	WORD("密鑰", NAME_SECRET), WORD("秘密鍵", NAME_SECRET), WORD("cl\u00e9 secr\u00e8te", NAME_SECRET),
	WORD("Cl\u00e9 secr\u00e8te", NAME_SECRET), WORD("cl\u00e9 API", NAME_API_KEY),
	WORD("Cl\u00e9 API", NAME_API_KEY), WORD("klucz API", NAME_API_KEY), WORD("Klucz API", NAME_API_KEY),
	WORD("clave API", NAME_API_KEY), WORD("chave API", NAME_API_KEY),
	WORD("API-Schl\u00fcssel", NAME_API_KEY), WORD("chave secreta", NAME_SECRET),
	WORD("Chave secreta", NAME_SECRET), WORD("clave secreta", NAME_SECRET),
	WORD("Clave secreta", NAME_SECRET), WORD("chiave segreta", NAME_SECRET),
	WORD("Chiave segreta", NAME_SECRET), WORD("tajny klucz", NAME_SECRET), WORD("jeton", NAME_TOKEN),
	WORD("Jeton", NAME_TOKEN),
	/* A name and a password: for that NAME_VALUE stands here. */
	WORD("Zugangsdaten", NAME_VALUE), WORD("identifiants", NAME_VALUE), WORD("Identifiants", NAME_VALUE),
	WORD("credenciales", NAME_VALUE), WORD("Credenciales", NAME_VALUE), WORD("credenziali", NAME_VALUE),
	WORD("Credenziali", NAME_VALUE), WORD("Geheimnis", NAME_SECRET), WORD("secreto", NAME_SECRET),
};

/* Of ASCII, where more words follow: as names alone they are in credentials_name.c. */
static const struct foreign BEFORE_WORDS[] = {
	WORD("Passwort", NAME_PASSWORD), WORD("Kennwort", NAME_PASSWORD), WORD("password di", NAME_PASSWORD),
	WORD("Password di", NAME_PASSWORD), WORD("senha", NAME_PASSWORD), WORD("Senha", NAME_PASSWORD),
	WORD("clave", NAME_PASSWORD), WORD("Clave", NAME_PASSWORD), WORD("wachtwoord", NAME_PASSWORD),
	WORD("Wachtwoord", NAME_PASSWORD), WORD("heslo", NAME_PASSWORD), WORD("Heslo", NAME_PASSWORD),
	WORD("parola", NAME_PASSWORD), WORD("Parola", NAME_PASSWORD), WORD("adgangskode", NAME_PASSWORD),
	WORD("Adgangskode", NAME_PASSWORD), WORD("salasana", NAME_PASSWORD),
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Nearly all names end in another way: that saves comparing. */
static bool may_end(struct str text, size_t end)
{
	unsigned char last = end > 0 ? (unsigned char)text.p[end - 1] : ' ', before;

	if (last >= 0x80 || end < 2)
		return last >= 0x80;
	before = (unsigned char)text.p[end - 2];
	switch (last) {
	case 'a':
		return before >= 0x80 || before == 't';
	case 'o':
		return before >= 0x80 || before == 't';
	case 'u':
		return before >= 0x80;
	case 'e':
		return before == 's' || before == 'r' || before == 't' || before == 'v' || before == 'n';
	case 's':
		return before == 'i' || before == 't' || before == 'e';
	case 'i':
		return before == 'd' || before == 'l';
	case 'd':
		return before == 'r';
	case 'I':
		return before == 'P';
	case 'l':
		return before == 'e';
	case 'n':
		return before == 'o' || before == 'e';
	case 'r':
		return before == 'e';
	case 'z':
		return before == 'c';
	default:
		return false;
	}
}

static size_t trim_end(struct str text, size_t low, size_t end)
{
	while (end > low && credentials_among(text.p[end - 1], " \t*\"'`_"))
		end--;
	return end;
}

static enum credentials_name ends_with(struct str before)
{
	for (size_t i = 0; i < COUNT(WORDS); i++)
		if (str_has_suffix(before, WORDS[i].word))
			return (enum credentials_name)WORDS[i].sort;
	return NAME_NONE;
}

static enum credentials_name begins_with(struct str at, const struct foreign *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (words[i].word.p[0] == at.p[0] && str_has_prefix(at, words[i].word) &&
		    credentials_byte(at, words[i].word.n) == ' ')
			return (enum credentials_name)words[i].sort;
	return NAME_NONE;
}

/* "Passwort für root", "пароль от базы": the name, and up to three words behind it. */
static enum credentials_name before_words(struct str text, size_t low, size_t end)
{
	size_t at = end;

	for (int words = 0; words <= WORDS_BETWEEN_MAX; words++) {
		enum credentials_name sort;

		while (at > low && ((unsigned char)text.p[at - 1] >= 0x80 ||
				    credentials_is(text.p[at - 1], CH_NAME) || text.p[at - 1] == '\''))
			at--;
		if (at == low && low > 0)
			return NAME_NONE;
		if (words > 0) {
			sort = begins_with(str_sub(text, at, end), WORDS, COUNT(WORDS));
			if (sort == NAME_NONE)
				sort = begins_with(str_sub(text, at, end), BEFORE_WORDS, COUNT(BEFORE_WORDS));
			if (sort != NAME_NONE)
				return sort;
		}
		if (at == low || text.p[at - 1] != ' ')
			return NAME_NONE;
		at--;
	}
	return NAME_NONE;
}

enum credentials_name credentials_foreign_sort(struct str text, size_t end)
{
	size_t low = end > FOREIGN_BYTES_MAX ? end - FOREIGN_BYTES_MAX : 0;
	bool colon = credentials_byte(text, end) == ':' && credentials_byte(text, end + 1) == ' ';
	enum credentials_name sort = NAME_NONE;

	end = trim_end(text, low, end);
	if (may_end(text, end))
		sort = ends_with(str_sub(text, low, end));
	/* A sentence has a blank behind its colon. */
	if (sort == NAME_NONE && colon && end > low &&
	    (credentials_is(text.p[end - 1], CH_ALNUM) || (unsigned char)text.p[end - 1] >= 0x80))
		sort = before_words(text, low, end);
	return sort;
}

bool credentials_foreign_word(struct str text, size_t end)
{
	size_t low = end > FOREIGN_BYTES_MAX ? end - FOREIGN_BYTES_MAX : 0;

	end = trim_end(text, low, end);
	return may_end(text, end) && ends_with(str_sub(text, low, end)) == NAME_PASSWORD;
}

/* U+FF1A has the bytes EF BC 9A. */
bool credentials_foreign_colon(const struct credentials_scan *s, size_t i, struct credential *ret)
{
	struct str name;
	enum credentials_name sort;

	if (i < 3 || (unsigned char)s->text.p[i - 2] != 0xef)
		return false;
	sort = credentials_foreign_sort(s->text, i - 2);
	if (sort == NAME_NONE && credentials_read_name(s->text, i - 2, &name))
		sort = credentials_name_of(name);
	return sort != NAME_NONE && sort != NAME_VALUE && sort != NAME_AUTHORIZATION &&
	       credentials_assign_given(s, sort, i, i + 1, ret);
}
