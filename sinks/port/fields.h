/* Fields of a message's struct by its table; private to sinks/port. Loads and stores go through
 * memcpy, so that any struct may stand behind the table. */
#ifndef SINKS_PORT_FIELDS_H
#define SINKS_PORT_FIELDS_H

#include "sinks/base/check.h"
#include "sinks/port/port.h"

#include <string.h>

#define PORT_NESTING_MAX 8 /* below the outermost message */
#define PORT_FRAMES_MAX  (PORT_NESTING_MAX + 1)
#define PORT_WIRE_VARINT 0u
#define PORT_WIRE_LENGTH 2u

static inline uint64_t field_scalar(const struct port_field *field, const uint8_t *value)
{
    bool truth = false;
    uint32_t word = 0;
    uint64_t wide = 0;
    switch ((enum port_type)field->type) {
    case PORT_BOOL:
        memcpy(&truth, value + field->offset, sizeof(truth));
        return truth ? 1 : 0;
    case PORT_U32:
    case PORT_ENUM:
        memcpy(&word, value + field->offset, sizeof(word));
        return word;
    case PORT_U64:
    case PORT_I64:
        memcpy(&wide, value + field->offset, sizeof(wide));
        return wide;
    case PORT_TYPE_NONE:
    case PORT_BYTES:
    case PORT_TEXT:
    case PORT_MESSAGE:
    case PORT_LIST:
    case PORT_TEXTS:
        break;
    }
    UNREACHABLE();
}

static inline void field_set_scalar(const struct port_field *field, uint8_t *value, uint64_t number)
{
    const bool truth = number != 0;
    const uint32_t word = (uint32_t)number;
    switch ((enum port_type)field->type) {
    case PORT_BOOL:
        memcpy(value + field->offset, &truth, sizeof(truth));
        return;
    case PORT_U32:
    case PORT_ENUM:
        memcpy(value + field->offset, &word, sizeof(word));
        return;
    case PORT_U64:
    case PORT_I64:
        memcpy(value + field->offset, &number, sizeof(number));
        return;
    case PORT_TYPE_NONE:
    case PORT_BYTES:
    case PORT_TEXT:
    case PORT_MESSAGE:
    case PORT_LIST:
    case PORT_TEXTS:
        break;
    }
    UNREACHABLE();
}

static inline struct bytes field_bytes(const struct port_field *field, const uint8_t *value)
{
    struct bytes bytes;
    memcpy(&bytes, value + field->offset, sizeof(bytes));
    return bytes;
}

static inline struct port_list field_list(const struct port_field *field, const uint8_t *value)
{
    struct port_list list;
    memcpy(&list, value + field->offset, sizeof(list));
    return list;
}

static inline struct port_texts field_texts(const struct port_field *field, const uint8_t *value)
{
    struct port_texts texts;
    memcpy(&texts, value + field->offset, sizeof(texts));
    return texts;
}

static inline const uint8_t *field_message(const struct port_field *field, const uint8_t *value)
{
    const void *message = NULL;
    memcpy(&message, value + field->offset, sizeof(message));
    return message;
}

static inline bool field_is_scalar(const struct port_field *field)
{
    return field->type >= PORT_BOOL && field->type <= PORT_ENUM;
}

static inline bool field_is_nested(const struct port_field *field)
{
    return field->type == PORT_MESSAGE || field->type == PORT_LIST;
}

static inline uint32_t field_wire(const struct port_field *field)
{
    return field_is_scalar(field) ? PORT_WIRE_VARINT : PORT_WIRE_LENGTH;
}

/* Field number and wire type. */
static inline uint64_t field_tag(const struct port_field *field)
{
    return (uint64_t)field->number << 3 | field_wire(field);
}

#endif
