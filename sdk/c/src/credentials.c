#include "credentials.h"

#include "error.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A key has 50 characters or so. What is larger is another file than the one that was meant. */
enum { KEY_MAX_BYTES = 4096 };

void msi_credentials_free(char *key)
{
	if (key == NULL)
		return;
	/* volatile: or a compiler may leave out what nobody reads any more. */
	for (volatile char *p = key; *p; p++)
		*p = 0;
	free(key);
}

static bool is_key(const char *text)
{
	for (const char *p = text; *p; p++)
		if ((unsigned char)*p <= 0x20 || (unsigned char)*p >= 0x7f)
			return false;
	return text[0] != '\0';
}

static ms_status copy_key(const char *key, const char *what, char **ret, ms_error *ret_error)
{
	if (!is_key(key))
		return msi_error_invalid(ret_error, "key", "%s is no key: it holds blanks, line breaks or characters "
					 "beyond ASCII", what);
	*ret = strdup(key);
	return *ret ? MS_OK : msi_error_no_memory(ret_error);
}

/* All of a small file. False with errno where it cannot be read; what is too long is cut. */
static bool read_file(const char *path, char *ret, size_t size, mode_t *ret_mode)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY), failure = 0;
	size_t len = 0;
	ssize_t n = 1;
	struct stat st;

	if (fd < 0)
		return false;
	if (fstat(fd, &st) != 0)
		failure = errno;
	while (failure == 0 && n > 0 && len < size - 1) {
		n = read(fd, ret + len, size - 1 - len);
		if (n < 0 && errno != EINTR)
			failure = errno;
		else if (n < 0)
			n = 1;
		else
			len += (size_t)n;
	}
	close(fd);
	ret[len] = '\0';
	if (failure == 0)
		*ret_mode = st.st_mode;
	errno = failure;
	return failure == 0;
}

static void forget(char *text, size_t size)
{
	for (volatile char *p = text; p < text + size; p++)
		*p = 0;
}

static char *trim(char *text)
{
	size_t len = strlen(text);

	while (len > 0 && strchr(" \t\r\n", text[len - 1]))
		text[--len] = '\0';
	return text + strspn(text, " \t\r\n");
}

static ms_status read_key(const char *path, char **ret, ms_error *ret_error)
{
	char text[KEY_MAX_BYTES + 2] = "", why[128] = "";
	ms_status status;
	mode_t mode = 0;

	if (!read_file(path, text, sizeof(text), &mode)) {
		if (strerror_r(errno, why, sizeof(why)) != 0)
			why[0] = '\0';
		status = msi_error_invalid(ret_error, "key_file", "the key file %.200s cannot be read: %s", path, why);
	} else if (mode & 077) {
		status = msi_error_invalid(ret_error, "key_file", "the key file %.200s can be read by others (mode "
					   "%04o): make it yours alone, chmod 600", path, (unsigned)(mode & 0777));
	} else if (strlen(text) > KEY_MAX_BYTES || !is_key(trim(text))) {
		status = msi_error_invalid(ret_error, "key_file", "there is no key in the file %.200s: it must have "
					   "the text that spine key create showed, alone", path);
	} else {
		status = copy_key(trim(text), path, ret, ret_error);
	}
	forget(text, sizeof(text));
	return status;
}

ms_status msi_credentials_key(const ms_options *options, char **ret, ms_error *ret_error)
{
	const char *key = options->key, *file = options->key_file;

	*ret = NULL;
	if (key && key[0] && file && file[0])
		return msi_error_invalid(ret_error, "key", "key and key_file are both given: give one of them");
	if (key && key[0])
		return copy_key(key, "key", ret, ret_error);
	if (file && file[0])
		return read_key(file, ret, ret_error);
	if (key || file)
		return MS_OK;
	key = getenv("SPINE_KEY");
	if (key && key[0])
		return copy_key(key, "SPINE_KEY", ret, ret_error);
	file = getenv("SPINE_KEY_FILE");
	return file && file[0] ? read_key(file, ret, ret_error) : MS_OK;
}

ms_status msi_credentials_check_file(const char *what, const char *path, ms_error *ret_error)
{
	char why[128] = "";

	if (path == NULL || access(path, R_OK) == 0)
		return MS_OK;
	if (strerror_r(errno, why, sizeof(why)) != 0)
		why[0] = '\0';
	return msi_error_invalid(ret_error, what, "%s, %.200s, cannot be read: %s", what, path, why);
}
