/* Encrypted backups, which anybody may hand over: any bytes as a file, read with a key and without one; and files that
 * were written well, of which one byte was changed, the end was cut off, or which go on behind their end. */
#include "fuzz.h"

#include "admin/encrypted.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);

enum { CHUNK = 65536, TAG_BYTES = 16, HEAD_BYTES = 8 + 1 + 2 + 32, PATH_SIZE = 160, FILE_MAX = 1 << 20, LARGE = 0xe0 };

/* Made for this: they open nothing else. */
static const char private_key[] =
	"-----BEGIN PRIVATE KEY-----\n"
	"MC4CAQAwBQYDK2VuBCIEIGDI2dfkjcgygGFHS0ydMslmv4Ce3ymc/tkU/Cn/lEJM\n"
	"-----END PRIVATE KEY-----\n";
static const char public_key[] =
	"-----BEGIN PUBLIC KEY-----\n"
	"MCowBQYDK2VuAyEAPZFGeS1hzBb+9v8skN7Rt50hPXbFJbUk7+/20G7v/1I=\n"
	"-----END PUBLIC KEY-----\n";

static char dir[64], own_file[PATH_SIZE], to_file[PATH_SIZE], none_file[PATH_SIZE], plain_file[PATH_SIZE],
	sealed_file[PATH_SIZE], opened_file[PATH_SIZE];
static const char *const names[] = {"own", "to", "none", "plain", "sealed", "opened"};
static char *const files[] = {own_file, to_file, none_file, plain_file, sealed_file, opened_file};

static void put_file(const char *path, struct str bytes)
{
	FILE *f = fopen(path, "we");

	PROMISE(f && fwrite(bytes.p, 1, bytes.n, f) == bytes.n && fclose(f) == 0, "a file can be written");
}

static void get_file(const char *path, struct buf *ret)
{
	FILE *f = fopen(path, "re");
	char *room;
	size_t n;

	PROMISE(f != NULL, "what was read is there");
	while ((room = buf_reserve(ret, CHUNK)) != NULL && (n = fread(room, 1, CHUNK, f)) > 0)
		buf_commit(ret, n);
	fclose(f);
}

static void clean(void)
{
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		unlink(files[i]);
	rmdir(dir);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	umask(0077);
	snprintf(dir, sizeof(dir), "%s/spine-fuzz-XXXXXX", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
	PROMISE(mkdtemp(dir) != NULL, "there is a directory");
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		snprintf(files[i], PATH_SIZE, "%s/%s", dir, names[i]);
	atexit(clean);
	put_file(own_file, str_of(private_key));
	put_file(to_file, str_of(public_key));
	return 0;
}

static bool is_opened(const char *key)
{
	const struct encrypted_key with = {.file = key};
	struct buf error;
	bool is_good, is_read;

	buf_init(&error, 4096);
	is_good = encrypted_verify(sealed_file, &with, &error);
	PROMISE(is_good == (error.len == 0), "a refusal has a sentence");
	buf_clear(&error);
	unlink(opened_file);
	is_read = encrypted_read(sealed_file, &with, opened_file, &error);
	PROMISE(is_read == is_good && is_read == (error.len == 0), "what is well can be read, and nothing else");
	PROMISE(is_read == (access(opened_file, F_OK) == 0), "what could not be read leaves no file");
	buf_release(&error);
	return is_good;
}

static void read_any(struct str bytes)
{
	put_file(sealed_file, bytes);
	PROMISE(encrypted_is(sealed_file) == str_has_prefix(bytes, STR("SPNENC1\n")),
		"a file is known by its first bytes");
	PROMISE(!is_opened(none_file), "nothing is opened without a key");
	if (is_opened(own_file))
		PROMISE(encrypted_is(sealed_file), "what can be opened is known");
}

/* As many bytes as there are; seldom as many as end beside a boundary of chunks. */
static void put_plain(struct buf *b, struct str bytes, uint8_t choice)
{
	size_t chunks = 1 + (choice >> 3 & 1), n = choice < LARGE ? bytes.n : CHUNK * chunks + (choice & 7) - 3;
	char *room = buf_reserve(b, n + 1);

	PROMISE(room != NULL, "there is room");
	for (size_t i = 0; i < n; i++)
		room[i] = bytes.n ? bytes.p[i % bytes.n] : '0';
	buf_commit(b, n);
}

static void change(struct buf *sealed, uint32_t at, uint8_t choice)
{
	char *byte = sealed->data + at % sealed->len;

	switch (choice & 3) {
	case 0:
		*byte = (char)(*byte ^ (1 << (choice >> 2 & 7)));
		break;
	case 1:
		sealed->len = (size_t)(byte - sealed->data);
		/* Where a chunk ends, the rest is well in itself. */
		if ((choice & 4) && sealed->len > HEAD_BYTES)
			sealed->len -= (sealed->len - HEAD_BYTES) % (CHUNK + TAG_BYTES);
		break;
	case 2:
		buf_append(sealed, "0123", 1 + (choice >> 2 & 3));
		break;
	default:
		memmove(byte, byte + 1, (size_t)(sealed->data + sealed->len - byte) - 1);
		sealed->len--;
	}
}

static void write_and_change(struct str bytes, uint32_t at, uint8_t how, uint8_t size)
{
	struct buf plain, sealed, opened, error;

	buf_init(&plain, FILE_MAX);
	buf_init(&sealed, FILE_MAX);
	buf_init(&opened, FILE_MAX);
	buf_init(&error, 4096);
	put_plain(&plain, bytes, size);
	put_file(plain_file, buf_str(&plain));
	unlink(sealed_file);
	PROMISE(encrypted_write(plain_file, sealed_file, to_file, &error), "a file can be encrypted");
	get_file(sealed_file, &sealed);
	PROMISE(is_opened(own_file), "what was encrypted can be opened");
	get_file(opened_file, &opened);
	PROMISE(str_eq(buf_str(&opened), buf_str(&plain)), "what was encrypted is read as it was");
	change(&sealed, at, how);
	put_file(sealed_file, buf_str(&sealed));
	PROMISE(!is_opened(own_file), "what was changed is not opened");
	buf_release(&plain);
	buf_release(&sealed);
	buf_release(&opened);
	buf_release(&error);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t choice = fuzz_choice(&data, &size), sizes;
	uint32_t at;

	/* A file as it is has its first byte here. */
	if (choice == 'S' || choice % 2 == 0) {
		read_any(choice == 'S' ? fuzz_str(data - 1, size + 1) : fuzz_str(data, size));
		return 0;
	}
	at = (uint32_t)fuzz_choice(&data, &size) << 16;
	at |= (uint32_t)fuzz_choice(&data, &size) << 8;
	at |= fuzz_choice(&data, &size);
	sizes = fuzz_choice(&data, &size);
	write_and_change(fuzz_str(data, size), at, choice >> 1, sizes);
	return 0;
}
